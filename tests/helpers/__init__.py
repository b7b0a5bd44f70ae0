"""Helpers of the tests: arrays, comparisons, child processes, JPEG files, boxes, an emulated GPU."""
