"""An annotation file in COCO's format."""

import json

COCO = {
    "images": [
        {"id": 7, "file_name": "a.jpg", "height": 40, "width": 50},
        {"id": 3, "file_name": "b.jpg", "height": 30, "width": 20},
    ],
    "categories": [
        {"id": 18, "name": "dog"},
        {"id": 1, "name": "person", "keypoints": ["nose", "tail"]},
    ],
    "annotations": [
        {
            "id": 1,
            "image_id": 7,
            "category_id": 18,
            "bbox": [1, 2, 10, 20],
            "area": 150.5,
            "iscrowd": 0,
            "keypoints": [3, 4, 2, 5, 6, 1],
            "segmentation": [[1, 2, 11, 2, 11, 22, 1, 22]],
        },
        {
            "id": 2,
            "image_id": 7,
            "category_id": 1,
            "bbox": [0, 0, 5, 5],
            "area": 25,
            "iscrowd": 1,
            "keypoints": [0, 0, 0, 1, 1, 2],
            "segmentation": {"size": [40, 50], "counts": [0, 40, 1960]},
        },
    ],
}


def write_annotations(tmp_path, content):
    path = tmp_path / "instances.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
