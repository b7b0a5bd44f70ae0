"""What runs on the CPU alone says so on a GPU; torch.compile calls suppression there."""

import box_cases
import pytest

cuaug = pytest.importorskip("cuaug")
torch = pytest.importorskip("torch")
operators = pytest.importorskip("cuaug._operators")
pytestmark = pytest.mark.gpu

BOXES = torch.zeros(3, 4)
REFUSED = {
    "roi_align": lambda: cuaug.roi_align(torch.zeros(1, 2, 8, 8).cuda(), torch.zeros(3, 5).cuda(), 2),
    "roi_align of levels": lambda: cuaug.roi_align(
        [torch.zeros(1, 2, 8, 8).cuda(), torch.zeros(1, 2, 4, 4).cuda()], [BOXES.cuda()], 2, [1.0, 0.5]
    ),
    "roi_pool": lambda: cuaug.roi_pool(torch.zeros(1, 2, 8, 8).cuda().requires_grad_(), torch.zeros(3, 5).cuda(), 2),
    "soft_nms": lambda: cuaug.soft_nms(BOXES.cuda(), BOXES[:, 0].cuda()),
    "box_iou of rotated": lambda: cuaug.box_iou(torch.zeros(3, 5).cuda(), torch.zeros(3, 5).cuda()),
    "nms of rotated": lambda: cuaug.nms(torch.zeros(3, 5).cuda(), BOXES[:, 0].cuda(), 0.5),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_kernel_says_how_to_get_to_the_cpu(name):
    with pytest.raises(cuaug.BackendError, match=r"on a GPU: .*\.cpu\(\)"):
        REFUSED[name]()


@pytest.mark.parametrize("fixed_size", [False, True])
def test_the_operator_of_suppression_is_what_torch_expects(fixed_size):
    operators.defined()
    boxes, scores = (torch.from_numpy(values).cuda() for values in box_cases.clustered(60))
    torch.library.opcheck(torch.ops.cuaug.nms.default, (boxes, scores, None, None, 0.5, 0.1, None, fixed_size))


def test_suppression_in_a_graph():
    def keep(boxes, scores):
        return cuaug.nms(boxes * 2, scores, 0.5, max_output=30, fixed_size=True)

    given = [torch.from_numpy(values).cuda() for values in box_cases.clustered(300)]
    in_graph = torch.compile(keep, fullgraph=True, backend="aot_eager")
    for found, wanted in zip(in_graph(*given), keep(*given), strict=True):
        assert torch.equal(found, wanted)
