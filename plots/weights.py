"""What a result file says of the model's weights, and how a picture puts it."""

WEIGHTS = {"random": "random weights", "pretrained": "pretrained weights", "arithmetic": "trained on arithmetic"}
