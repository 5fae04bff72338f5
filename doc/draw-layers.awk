# SPDX-License-Identifier: BSD-3-Clause
# Draws the layers of layers.txt as an SVG, in doc/:
#
#   LC_ALL=C.UTF-8 awk -f draw-layers.awk layers.txt > architecture.svg

function escape(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    return text
}

function text(x, y, size, style, anchor, words) {
    return sprintf("<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\" %s>%s</text>\n",
                   x, y, size, anchor, style, escape(words))
}

function rectangle(x, y, width, height, fill, stroke) {
    return sprintf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" fill=\"%s\" stroke=\"%s\"/>\n",
                   x, y, width, height, fill, stroke)
}

BEGIN { WIDTH = 920; MARGIN = 10; TITLE = 30; BOX = 46; GAP = 20; bands = 0 }

/^#/ || NF == 0 { next }
$1 == "beside" { beside = bands + 1; next }
{
    kind = $1
    sub(/^[a-z]+ +/, "")
    split($0, part, /; */)
    what = $0
    if (!sub(/^[^;]*; */, "", what))
        what = ""
}
kind == "band" { bands++; name[bands] = part[1]; does[bands] = what; boxes[bands] = 0 }
kind == "box" { n = ++boxes[bands]; box[bands, n] = part[1]; holds[bands, n] = what }

END {
    y = MARGIN
    for (i = 1; i <= bands; i++) {
        height = TITLE + (boxes[i] ? BOX + 10 : 4)
        if (i > 1 && i != beside)
            out = out sprintf("<path d=\"M%d %d v%d\" stroke=\"#444\" stroke-width=\"1.5\" marker-end=\"url(#tip)\"/>\n",
                              WIDTH / 2, y - GAP, GAP - 3)
        out = out rectangle(MARGIN, y, WIDTH - 2 * MARGIN, height,
                            i == beside ? "#f4f4f4" : "#eaf1f8", "#4477aa")
        out = out text(MARGIN + 10, y + 20, 14, "font-weight=\"bold\"", "start", name[i])
        out = out text(WIDTH - MARGIN - 10, y + 20, 12, "fill=\"#333\"", "end", does[i])
        if (boxes[i])
            wide = (WIDTH - 2 * MARGIN - 10 - 10 * boxes[i]) / boxes[i]
        for (j = 1; j <= boxes[i]; j++) {
            x = MARGIN + 10 + (j - 1) * (wide + 10)
            out = out rectangle(x, y + TITLE, wide, BOX, "white", "#999")
            out = out text(x + wide / 2, y + TITLE + 19, 13, "font-weight=\"bold\"", "middle", box[i, j])
            out = out text(x + wide / 2, y + TITLE + 36, 11, "fill=\"#333\"", "middle", holds[i, j])
        }
        y += height + GAP
    }
    y += MARGIN - GAP
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n",
           WIDTH, y, WIDTH, y
    print "<!-- made of layers.txt by draw-layers.awk -->"
    print "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"6\" refY=\"3\" orient=\"auto\"><path d=\"M0 0 L6 3 L0 6 z\" fill=\"#444\"/></marker></defs>"
    printf "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n%s</svg>\n", WIDTH, y, out
}
