"""What several tests use: arrays, comparisons, child processes, JPEG files, boxes, an emulated GPU."""
