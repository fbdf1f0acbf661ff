"""The demo's data: scenes, their captions, drawings and manifests. Pure, without Django."""
