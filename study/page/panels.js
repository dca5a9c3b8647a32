// Panels of a figure side by side, and what all forms need to fill them. What a figure's `chart` says of `x`, `value`, `series`
// and `panels` are places of columns.
'use strict';

const astrolabePanels = (() => {
    const {amount, shortName, labelOf, valueText, widthOf, fitted, range, seriesStyle} = astrolabeSheet;
    const MOST_PANELS = 36;
    const OWN_SCALE = 10;  // panels whose values differ by more have scales of their own

    const columnOf = (figure, place) => figure.rows.map((row) => row[place]);
    const valueAt = (row, place) => (place === null || place === undefined ? '' : row[place]);

    const dimensionAt = (figure, report, place) =>
        (place === null || place === undefined
            ? {name: '', label: '', values: [''], numbers: null}
            : report.dimensions.find((dimension) => dimension.name === figure.columns[place]));

    /** "link rate, Gbit/s" and the size of the unit, for an axis of a dimension of numbers; values that say their unit are numbers there. */
    function numbersOf(dimension) {
        const isQuantity = dimension.unit in astrolabeSheet.UNITS && dimension.unit !== '';
        const [size, unit] = isQuantity ? astrolabeSheet.unitFor(dimension.unit, range(dimension.numbers.filter((number) => number !== 0))[0])
            : [1, dimension.unit || ''];
        return {size, isQuantity, title: unit ? `${labelOf(dimension)}, ${unit}` : labelOf(dimension)};
    }

    /** What an axis with a place for each value is called. */
    const titleOf = (dimension) => (dimension.name === '' ? ''
        : dimension.unit && !(dimension.unit in astrolabeSheet.UNITS) ? `${labelOf(dimension)}, ${dimension.unit}` : labelOf(dimension));

    /** Rows by what is in the columns `places`, in the order of the dimensions' values. */
    function panelsOf(figure, report, places) {
        const dimensions = places.map((place) => dimensionAt(figure, report, place));
        const order = dimensions.map((dimension) => new Map(dimension.values.map((value, index) => [value, index])));
        const panels = new Map();
        for (const row of figure.rows) {
            const at = places.map((place, i) => order[i].get(row[place]));
            const key = at.join(' ');
            if (!panels.has(key)) {
                const values = places.map((place, i) => valueText(dimensions[i], row[place], 40));
                panels.set(key, {at, label: values.map((value, i) => `${labelOf(dimensions[i])} = ${value}`).join(', '), values, rows: []});
            }
            panels.get(key).rows.push(row);
        }
        const compare = (a, b) => a.at.reduce((sign, value, i) => sign || value - b.at[i], 0);
        return [...panels.values()].sort(compare);
    }

    /** Whether panels need scales of their own; each knows the range of its values then, else that of all. */
    function setScales(panels, rangeOf) {
        for (const panel of panels) panel.range = rangeOf(panel.rows);
        const ends = panels.map((panel) => panel.range[1]).filter((end) => end > 0);
        const isOwn = ends.length > 1 && Math.max(...ends) >= OWN_SCALE * Math.min(...ends);
        if (!isOwn) {
            const all = [range(panels.map((panel) => panel.range[0]))[0], range(panels.map((panel) => panel.range[1]))[1]];
            for (const panel of panels) panel.range = all;
        }
        return isOwn;
    }

    const OWN_SCALES = 'every panel has its own scale: their values differ by a factor of ten or more';

    /** Lines of a tooltip: where the point is, then what is drawn. */
    function pointLines(sheet, figure, row, unit, drawn) {
        const known = new Map(sheet.report.dimensions.map((dimension) => [dimension.name, dimension]));
        const places = figure.columns.flatMap((column, place) => (known.has(column)
            ? [[labelOf(known.get(column)), valueText(known.get(column), row[place], 80)]] : []));
        return places.concat(drawn.map((place) => [figure.columns[place].replace(/_s$/, '').replace(/_/g, ' '), amount(row[place], unit)]));
    }

    function seriesEntries(figure, report, place) {
        const dimension = dimensionAt(figure, report, place);
        const used = new Set(place === null || place === undefined ? [''] : columnOf(figure, place));
        return dimension.values.map((value, index) => Object.assign({value, name: 's' + index, label: valueText(dimension, value, 60)},
            seriesStyle(index, dimension))).filter((entry) => used.has(entry.value));
    }

    /**
     * Places panels, as many in a line as have room. `margins` are {left, right, bottom, head}; `draw` gets the panel, where it is, and
     * whether it is the first of its line.
     */
    function placePanels(sheet, figure, panels, {least, heightOf, margins, remarks = []}, draw) {
        const drawn = panels.slice(0, MOST_PANELS);
        const most = Math.max(1, Math.min(drawn.length, Math.floor((sheet.width - 8) / least)));
        const columns = Math.ceil(drawn.length / Math.ceil(drawn.length / most));
        const width = (sheet.width - 8) / columns;
        // Where names and values are too long for a panel, the names are told once.
        if (drawn.some((panel) => widthOf(panel.label, 13.8) > width - 16)) {
            for (const panel of drawn) panel.label = panel.values.join(' · ');
            sheet.remark(`panels: ${figure.chart.panels.map((place) => labelOf(dimensionAt(figure, sheet.report, place))).join(' · ')}`);
        }
        for (let first = 0; first < drawn.length; first += columns) {
            const line = drawn.slice(first, first + columns);
            const height = Math.max(...line.map(heightOf));
            const head = (line.some((panel) => panel.label !== '') ? 22 : 4) + (margins.head || 0);
            line.forEach((panel, i) => {
                const left = 4 + i * width;
                if (panel.label !== '') sheet.caption(panel.label, left + 4, sheet.height, width - 12);
                draw(panel, left + margins.left, sheet.height + head, width - margins.left - margins.right, heightOf(panel), i === 0);
            });
            sheet.height += head + height + margins.bottom;
        }
        const all = [...remarks];
        const cut = [];
        if (panels.length > drawn.length) cut.push(`${drawn.length} of ${panels.length} panels are drawn`);
        for (const panel of drawn) {
            if (panel.all > panel.rows.length) cut.push(`${panel.rows.length} of ${panel.all} bars are drawn`);
        }
        if (cut.length > 0) all.push(`${[...new Set(cut)].join('; ')}; the CSV file has all`);
        if (all.length > 0) sheet.remark(`${all.join('. ')}.`);
    }

    /** Names at the ends of curves, in their colours, moved apart where they would overlap. `ends` are {label, colour, y}. */
    function labelEnds(sheet, ends, left, top, bottom, room) {
        const LINE = 14;
        const placed = ends.map((end) => Object.assign({}, end)).sort((a, b) => a.y - b.y);
        const clamp = () => {
            for (let i = 1; i < placed.length; ++i) placed[i].y = Math.max(placed[i].y, placed[i - 1].y + LINE);
            const excess = placed.length > 0 ? placed[placed.length - 1].y - bottom : 0;
            if (excess > 0) placed[placed.length - 1].y -= excess;
            for (let i = placed.length - 2; i >= 0; --i) placed[i].y = Math.min(placed[i].y, placed[i + 1].y - LINE);
        };
        for (const end of placed) end.y = Math.max(top, end.y);
        clamp();
        for (const end of placed) {
            sheet.text(fitted(end.label, room, 11), left, end.y - 7, {fontSize: 11, color: sheet.theme.text, fontWeight: 400});
            if (end.colour) sheet.option.graphic.elements.push({type: 'rect', left: left - 7, top: end.y - 4, silent: true, shape: {width: 4, height: 8},
                style: {fill: end.colour}});
        }
    }

    return {
        OWN_SCALES, columnOf, valueAt, dimensionAt, numbersOf, titleOf, panelsOf, setScales, pointLines, seriesEntries, placePanels, labelEnds,
    };
})();
