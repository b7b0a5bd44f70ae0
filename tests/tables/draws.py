"""Draws in float64 and plain Python: Philox4x32-10, and the parameters that each transform draws from its words.

Written from the papers and from torchvision's algorithms; the words of a sample are those of (seed, step, id,
position), and each draw of a transform has 64 blocks of four words to itself.
"""

import math

import numpy as np

MASK = 0xFFFFFFFF
BLOCKS = 64


def philox(counter, key):
    """Salmon et al. 2011, section 4.3: ten rounds of two 32-bit products; Weyl constants advance the key.

    Words are Python's own integers or NumPy's uint64. [4], [2]
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


class Words:
    """Random numbers of one draw, the `index`-th of the transform at `position`."""

    def __init__(self, seed, step, sample, position=0, index=0):
        self.key = seed & MASK, seed >> 32
        self.counter_words = position | (sample >> 32 & 0xFFFF) << 16, sample & MASK, step & MASK
        self.words = self._words_from(BLOCKS * index)

    def _words_from(self, block):
        while True:
            yield from philox((block, *self.counter_words), self.key)
            block += 1

    def uniform(self, low=0.0, high=1.0):
        return low + (high - low) * next(self.words) / 2**32

    def below(self, count):
        """An integer in 0 .. count - 1."""
        return math.floor(self.uniform() * count)

    def chance(self, p):
        return self.uniform() < p

    def choice(self, weights):
        uniform, cumulative = self.uniform(), np.cumsum(weights)
        return int(np.searchsorted(cumulative[:-1], uniform, side="right"))

    def permutation(self, count):
        """Fisher and Yates, from the end (Knuth 3.4.2 P)."""
        items = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
        return items

    def normal(self):
        """Box and Muller 1958, the cosine of the pair."""
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())

    def gamma(self, shape):
        """Marsaglia and Tsang 2000; for shapes below 1 with remark 8 of the paper."""
        if shape < 1:
            boost = (1 - self.uniform()) ** (1 / shape)
            return boost * self.gamma(shape + 1)
        d = shape - 1 / 3
        while True:
            x = self.normal()
            v = (1 + x / math.sqrt(9 * d)) ** 3
            if v > 0 and math.log(1 - self.uniform()) < x * x / 2 + d * (1 - v + math.log(v)):
                return d * v

    def beta(self, a, b):
        x, y = self.gamma(a), self.gamma(b)
        return x / (x + y)

    def crop(self, canvas, size):
        return self.below(canvas[0] - size[0] + 1), self.below(canvas[1] - size[1] + 1)

    def resized_crop(self, canvas, scale, ratio):
        """torchvision's RandomResizedCrop: (top, left, height, width)."""
        height, width = canvas
        for _ in range(10):
            area = height * width * self.uniform(*scale)
            aspect = math.exp(self.uniform(math.log(ratio[0]), math.log(ratio[1])))
            w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < w <= width and 0 < h <= height:
                return *self.crop(canvas, (h, w)), h, w
        w, h = width, height
        if width / height < ratio[0]:
            h = round(width / ratio[0])
        elif width / height > ratio[1]:
            w = round(height * ratio[1])
        return (height - h) // 2, (width - w) // 2, h, w

    def erased_box(self, canvas, scale, ratio):
        """torchvision's RandomErasing: (top, left, height, width), all 0 where no attempt fits."""
        height, width = canvas
        for _ in range(10):
            area = height * width * self.uniform(*scale)
            aspect = math.exp(self.uniform(math.log(ratio[0]), math.log(ratio[1])))
            h, w = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if h < height and w < width:
                return *self.crop(canvas, (h, w)), h, w
        return 0, 0, 0, 0

    def cutmix_box(self, canvas, lam):
        """CutMix: (top, left, height, width) around a uniform centre, and the remaining share of the image."""
        height, width = canvas
        half_share = 0.5 * math.sqrt(1 - lam)
        half_width, half_height = int(half_share * width), int(half_share * height)
        x, y = self.below(width), self.below(height)
        left, right = np.clip([x - half_width, x + half_width], 0, width)
        top, bottom = np.clip([y - half_height, y + half_height], 0, height)
        h, w = int(bottom - top), int(right - left)
        return (int(top), int(left), h, w), 1 - h * w / (height * width)

    def corner_steps(self, canvas, distortion):
        """torchvision's RandomPerspective: steps inwards, x and y of each corner, clockwise from the top left."""
        max_x, max_y = (int(distortion * (extent // 2)) for extent in (canvas[1], canvas[0]))
        return [self.below((max_y if i % 2 else max_x) + 1) for i in range(8)]


def uniform_field(seed, step, sample, position, size):
    """Two numbers in -1..1 per pixel, each of 24 bits of a word; two pixels share a block of four words. [H, W, 2]"""
    height, width = size
    half = -(-width // 2)
    counter_words = position | (sample >> 32 & 0xFFFF) << 16, sample & MASK, step & MASK
    blocks = [philox((i, *counter_words), (seed & MASK, seed >> 32)) for i in range(height * half)]
    words = np.array(blocks, np.uint32).reshape(height, 2 * half, 2)[:, :width]
    return (words >> 8) / 2**23 - 1


def with_probability(name):
    """The draw of transforms that are applied with probability ``t.p``: 1 under this name where applied, else 0."""
    return lambda t, canvas, words: {name: words(0).chance(t.p)}


def resized_crop(t, canvas, words):
    return dict(zip(("top", "left", "height", "width"), words(0).resized_crop(canvas, t.scale, t.ratio), strict=True))


def random_crop(t, canvas, words):
    """The corner. With a padding it is the third draw: the padding draws two columns first."""
    before = 2 if t.padding else 0
    padded = [extent + 2 * (t.padding or 0) for extent in canvas]
    return dict(zip(("top", "left"), words(before).crop(padded, t.size), strict=True))


def affine(t, canvas, words):
    reach = [share * extent for share, extent in zip(t.translate or (0, 0), (canvas[1], canvas[0]), strict=True)]
    shifts, shear = ((-reach[0], reach[0]), (-reach[1], reach[1])), t.shear or (0, 0, 0, 0)
    ranges = t.degrees, *shifts, t.scale or (1, 1), shear[:2], shear[2:]
    names = "angle", "translate_x", "translate_y", "scale", "shear_x", "shear_y"
    values = {name: words(i).uniform(*ends) for i, (name, ends) in enumerate(zip(names, ranges, strict=True))}
    return {name: round(value) if "translate" in name else value for name, value in values.items()}


def rotation(t, canvas, words):
    return {"angle": words(0).uniform(*t.degrees)}


def perspective(t, canvas, words):
    names = [f"{corner}_{axis}" for corner in ("top_left", "top_right", "bottom_right", "bottom_left") for axis in "xy"]
    apply = words(0).chance(t.p)
    steps = words(1).corner_steps(canvas, t.distortion_scale) if apply else [0] * 8
    return {"apply": apply, **dict(zip(names, steps, strict=True))}


JITTER_PARAMETERS = "brightness", "saturation", "hue", "contrast"


def color_jitter(t, canvas, words):
    factors = {name: words(i).uniform(*getattr(t, name)) for i, name in enumerate(JITTER_PARAMETERS, 1)}
    orders = {f"order_{i}": op for i, op in enumerate(words(0).permutation(4))}
    return {**orders, **{f"{name}_factor": value for name, value in factors.items()}}


def photometric_distort(t, canvas, words):
    """Draws 0 to 7: for each factor, whether it applies, and its value. Draw 8: whether the contrast comes second.

    Draws 9 to 12 are the order, which follows from draw 8. Draws 13 and 14: whether channels are permuted, and how.
    """
    drawn = {}
    for i, (name, identity) in enumerate({"brightness": 1, "contrast": 1, "saturation": 1, "hue": 0}.items()):
        apply = words(2 * i).chance(t.p)
        factor = words(2 * i + 1).uniform(*getattr(t, name)) if apply else identity
        drawn |= {f"apply_{name}": apply, f"{name}_factor": factor}
    before = words(8).chance(0.5)
    drawn |= {"contrast_before": before}
    drawn |= {f"order_{i}": op for i, op in enumerate((0, 1, 2, 3) if before else (0, 2, 3, 1))}
    permute = words(13).chance(t.p)
    permutation = words(14).permutation(3) if permute else range(3)
    return {**drawn, "apply_permutation": permute, **{f"permutation_{c}": k for c, k in enumerate(permutation)}}


def erasing(t, canvas, words):
    apply = words(0).chance(t.p)
    box = words(1).erased_box(canvas, t.scale, t.ratio) if apply else (0, 0, 0, 0)
    return {"apply": apply, **dict(zip("ijhw", box, strict=True))}


def augmix(t, canvas, words):
    """Dirichlet shares by stick breaking: each is a Beta share of the remainder.

    The image takes the first share, and each chain but the last takes one of the others.
    """
    shapes = [1, *(t.mixture_width - i for i in range(1, t.mixture_width))]
    return {f"share_{i}": words(i).beta(t.alpha, t.alpha * count) for i, count in enumerate(shapes)}


def gaussian_blur(t, canvas, words):
    return {"sigma": words(0).uniform(*t.sigma)}


def jpeg(t, canvas, words):
    low, high = t.quality
    return {"quality": low + words(0).below(high - low + 1)}


def draw_parameters(row, transform, canvas, seed, step, sample, position=0):
    """The parameters that a transform of this row, at a position of a recipe, draws for one sample, by name."""
    values = row.draw(transform, canvas, lambda index: Words(seed, step, sample, position, index))
    return {f"{position}.{row.name}.{key}": float(value) for key, value in values.items()}
