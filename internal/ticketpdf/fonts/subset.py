#!/usr/bin/env python3
"""Makes the three fonts of this folder out of the whole Noto fonts.

Usage: subset.py FOLDER, which holds NotoSans-Regular.ttf, NotoSans-Bold.ttf
and NotoSansMono-Regular.ttf. See README.md.
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib.tables._g_l_y_f import Glyph

RANGES = """
    0020-007E 00A0-024F 0250-02AF 02B0-02FF 0300-036F 0370-03FF 0400-052F
    1E00-1EFF 1F00-1FFF 2010-2027 202F-205E 2070-209F 20A0-20BF 2100-218F
    2190-2193 2212 2215 2248 2260 2264-2265 25A1 25CF 2C60-2C7F A720-A7FF
"""


def code_points():
    for item in RANGES.split():
        first, _, last = item.partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)


def cut(path, points):
    """Returns the font with these code points, and what they are made of."""
    options = subset.Options()
    options.hinting = False
    options.layout_features = []
    options.legacy_cmap = False
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 7, 13, 14]  # 13 and 14 are the licence.
    options.notdef_outline = True
    options.recalc_timestamp = False
    options.drop_tables += ["GDEF", "GPOS", "GSUB", "MATH", "STAT"]
    font = subset.load_font(path, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=points)
    subsetter.subset(font)
    return font


def lend(font, lender):
    """Copies the glyphs that the font lacks: arrows, the minus sign, the box.

    The two are drawn on the same grid. Glyphs that are made of others stay out.
    """
    for point, name in sorted(lender.getBestCmap().items()):
        if point in font.getBestCmap() or lender["glyf"][name].isComposite():
            continue
        font.setGlyphOrder(font.getGlyphOrder() + [name])
        font["glyf"][name] = lender["glyf"][name]
        font["hmtx"][name] = lender["hmtx"][name]
        for table in font["cmap"].tables:
            table.cmap[point] = name


def end(font):
    """Ends the font with an empty glyph that has a width of its own.

    Without it the last glyphs share an entry in hmtx, and fpdf then reads, and
    writes, the wrong entries.
    """
    font.setGlyphOrder(font.getGlyphOrder() + ["end"])
    font["glyf"]["end"] = Glyph()
    font["hmtx"]["end"] = (1, 0)


def keep_format_4(font):
    """Drops the code points beyond the first plane, with their table."""
    font["cmap"].tables = [t for t in font["cmap"].tables if t.format == 4]


def main(folder):
    points = list(code_points())
    mono = cut(folder / "NotoSansMono-Regular.ttf", points)
    for name in ["NotoSans-Regular", "NotoSans-Bold", "NotoSansMono-Regular"]:
        font = cut(folder / f"{name}.ttf", points)
        lend(font, mono)
        end(font)
        keep_format_4(font)
        font.recalcTimestamp = False
        font.save(f"{name}.ttf")


main(Path(sys.argv[1]))
