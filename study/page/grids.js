// Figures with one number a point: dots and bars in rows, curves, heat maps.
'use strict';

const astrolabeGrids = (() => {
    const {
        FONT, amount, digits, shorten, labelOf, valueText, widthOf, fitted, range, unitFor, logAxis, linearAxis, scaledAxis, spansMuch,
        isGeometric, axisTitle, categoryLabels, shades,
    } = astrolabeSheet;
    const {
        OWN_SCALES, columnOf, valueAt, dimensionAt, numbersOf, titleOf, panelsOf, setScales, pointLines, seriesEntries, placePanels, labelEnds,
    } = astrolabePanels;
    const MOST_LANES = 600;
    const MOST_MARKS = 4000;

    const key = (...parts) => JSON.stringify(parts);

    /** Lines from the least to the greatest of several seeds, along x or y; data are [place, least, greatest]. */
    function errorBars(colour, data, isAlongX, offset = 0) {
        return {
            type: 'custom', silent: true, z: 5, data, encode: isAlongX ? {x: [1, 2], y: 0} : {x: 0, y: [1, 2]},
            renderItem: (params, api) => {
                const at = (value) => (isAlongX ? api.coord([value, api.value(0)]) : api.coord([api.value(0), value]));
                const [low, high] = [at(api.value(1)), at(api.value(2))];
                const shift = (point) => (isAlongX ? [point[0], point[1] + offset] : point);
                const [a, b] = [shift(low), shift(high)];
                const cap = isAlongX ? [0, 3.5] : [3.5, 0];
                const line = (from, to) => ({type: 'line', shape: {x1: from[0], y1: from[1], x2: to[0], y2: to[1]}, style: {stroke: colour, lineWidth: 1.2}});
                const end = (point) => line([point[0] - cap[0], point[1] - cap[1]], [point[0] + cap[0], point[1] + cap[1]]);
                return {type: 'group', children: [line(a, b), end(a), end(b)]};
            },
        };
    }

    function bar(entry, offset, thickness, theme, unit, data) {
        return {
            type: 'custom', name: entry.name, clip: false, itemStyle: {color: entry.colour}, encode: {x: 1, y: 0}, data,
            renderItem: (params, api) => {
                const from = api.coord([0, api.value(0)]);
                const to = api.coord([api.value(1), api.value(0)]);
                const y = to[1] + offset - thickness / 2;
                return {
                    type: 'group', children: [
                        {type: 'rect', shape: {x: from[0], y, width: Math.max(1, to[0] - from[0]), height: thickness}, style: {fill: entry.colour}},
                        {type: 'text', silent: true, style: {text: digits(api.value(1)) + unit, x: Math.max(from[0] + 1, to[0]) + 4, y: y + thickness / 2 + 0.5,
                            verticalAlign: 'middle', fontSize: 10.5, fontFamily: FONT, fill: theme.muted}},
                    ],
                };
            },
        };
    }

    /** Values along x in rows, one for each value of a parameter, with a lane for each of another: bars from zero, or dots. */
    function rows(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const isBars = chart.form === 'bars';
        const byName = chart.x === null;  // rows are what is told apart itself
        const series = seriesEntries(figure, sheet.report, chart.series);
        const x = dimensionAt(figure, sheet.report, byName ? chart.series : chart.x);
        const place = byName ? chart.series : chart.x;
        const used = new Set(place === null ? [''] : columnOf(figure, place));
        const all = x.values.filter((value) => used.has(value));
        const lanes = byName ? 1 : series.length;
        const step = Math.ceil((all.length * lanes) / MOST_LANES);
        const categories = all.filter((_, i) => i % step === 0);
        const ends = ['value', 'second', 'least', 'greatest'].filter((end) => end in chart).map((end) => chart[end]);
        const [size, unit] = unitFor(axis.unit, range(ends.flatMap((end) => columnOf(figure, end)))[1]);
        const scaled = (value) => (value === null ? null : value / size);
        if (!byName && chart.series !== null) sheet.legend(series, titleOf(dimensionAt(figure, sheet.report, chart.series)) + ':');
        if (chart.marks) {
            sheet.marks([{symbol: 'circle', label: chart.marks[0]}, {symbol: 'triangle', label: chart.marks[1]}]);
        }
        const labels = categories.map((value) => valueText(x, value, 40));
        const room = Math.min(Math.max(90, sheet.width * 0.34), range(labels.map((label) => widthOf(label, 11)))[1]);
        const title = titleOf(x);
        const margins = {left: Math.max(30, room + 20), right: isBars ? 46 : lanes === 1 ? 58 : 22, bottom: 50, head: title ? 16 : 0};
        const panels = panelsOf(figure, sheet.report, chart.panels);
        const isOwn = setScales(panels, (some) => range(some.flatMap((row) => ends.map((end) => row[end])).concat(chart.line === undefined ? [] : [chart.line])));
        const lane = isBars ? 14 : 11;
        const pitch = Math.max(20, lanes * lane + 8);
        const remarks = isOwn ? [OWN_SCALES] : [];
        if (step > 1) remarks.push(`one in ${step} values of ${labelOf(x)} is drawn; the CSV file has all`);
        placePanels(sheet, figure, panels, {
            least: Math.min(sheet.width - 8, margins.left + 190), heightOf: () => categories.length * pitch + 6, margins, remarks,
        }, (panel, left, top, width, height) => {
            const scale = panel.range.map(scaled);
            const ticks = Math.max(2, Math.floor(width / 46));
            const isLog = !isBars && axis.log && scale[0] > 0;
            const valueAxis = isBars ? linearAxis(scale[1], ticks) : isLog ? logAxis(scale, ticks)
                : axis.unit === '%' ? linearAxis(scale[1] > 50 ? 100 : scale[1], ticks) : scaledAxis(scale, ticks);
            if (title) sheet.rowHeading(title, left - 8, top - 17, margins.left - 10, width);
            const index = sheet.grid(left, top, width, height, Object.assign({name: axisTitle(axis, unit), nameGap: 26}, valueAxis),
                {type: 'category', inverse: true, data: categories.map((_, i) => String(i)), axisTick: {show: false}, splitLine: {show: lanes > 1},
                    axisLabel: {interval: 0, hideOverlap: false, formatter: (value) => fitted(labels[Number(value)], room + 4, 11)}});
            const known = new Map(panel.rows.map((row) => [key(valueAt(row, chart.x), valueAt(row, chart.series)), row]));
            series.forEach((entry, n) => {
                const offset = byName ? 0 : (n - (lanes - 1) / 2) * lane;
                const found = (byName ? [entry.value] : categories).map((value) =>
                    [byName ? categories.indexOf(entry.value) : categories.indexOf(value), known.get(key(byName ? '' : value, entry.value))])
                    .filter(([at, row]) => at >= 0 && row && row[chart.value] !== null);
                const lines = (row) => pointLines(sheet, figure, row, axis.unit, ends);
                if (isBars) {
                    sheet.series(index, bar(entry, offset, lane - 2, sheet.theme, unit === '%' ? '%' : '',
                        found.map(([at, row]) => ({value: [at, scaled(row[chart.value])], lines: lines(row)}))));
                } else {
                    const dots = (symbol, end) => ({
                        type: 'scatter', name: entry.name, symbol, symbolSize: chart.marks ? 9 : 9.5, symbolOffset: [0, offset], z: 4,
                        itemStyle: {color: entry.colour, opacity: 1}, clip: false,
                        data: found.map(([at, row]) => ({value: [scaled(row[end]), at], lines: lines(row)})),
                    });
                    const isAlone = lanes === 1 && !('second' in chart) && !('greatest' in chart);
                    sheet.series(index, Object.assign(dots(chart.marks ? 'circle' : entry.symbol, chart.value), isAlone ? {label: {
                        show: true, position: 'right', distance: 6, fontSize: 10.5, color: sheet.theme.muted, fontFamily: FONT,
                        formatter: (params) => amount(params.data.value[0] * size, axis.unit),
                    }} : {}));
                    if ('second' in chart) {
                        sheet.series(index, dots('triangle', chart.second));
                        sheet.series(index, joint(entry, offset, found.map(([at, row]) => [at, scaled(row[chart.value]), scaled(row[chart.second])])));
                    }
                }
                if ('greatest' in chart) {
                    sheet.series(index, errorBars(sheet.theme.text, found.map(([at, row]) => [at, scaled(row[chart.least]), scaled(row[chart.greatest])]), true, offset));
                }
            });
            if (chart.line !== undefined) {
                sheet.series(index, {type: 'line', silent: true, symbol: 'none', data: [], markLine: {
                    silent: true, symbol: 'none', label: {show: false}, data: [{xAxis: chart.line / size}],
                    lineStyle: {color: sheet.theme.muted, type: 'dashed', width: 1},
                }});
            }
        });
    }

    /** A thin line between two marks of a row. */
    function joint(entry, offset, data) {
        return {
            type: 'custom', silent: true, z: 3, data, encode: {x: [1, 2], y: 0},
            renderItem: (params, api) => {
                const [from, to] = [api.coord([api.value(1), api.value(0)]), api.coord([api.value(2), api.value(0)])];
                return {type: 'line', shape: {x1: from[0], y1: from[1] + offset, x2: to[0], y2: to[1] + offset},
                    style: {stroke: entry.colour, lineWidth: 1.2, opacity: 0.6}};
            },
        };
    }

    /** Curves over a parameter of numbers, with their names at their ends where those have room. */
    function lines(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const series = seriesEntries(figure, sheet.report, chart.series);
        const x = dimensionAt(figure, sheet.report, chart.x);
        const number = new Map(x.values.map((value, i) => [value, x.numbers[i]]));
        const {size: xSize, isQuantity, title} = numbersOf(x);
        const ends = ['value', 'least', 'greatest'].filter((end) => end in chart).map((end) => chart[end]);
        const [size, unit] = unitFor(axis.unit, range(columnOf(figure, chart.value))[1]);
        const isLogX = spansMuch(range(x.numbers)) || isGeometric(x.numbers);
        const [first, last] = range(x.numbers);
        const margin = (last - first) * 0.04 || 1;
        const panels = panelsOf(figure, sheet.report, chart.panels);
        const isOwn = setScales(panels, (some) => range(some.flatMap((row) => ends.map((end) => row[end])).concat(chart.line === undefined ? [] : [chart.line])));
        const names = Math.min(150, range(series.map((entry) => widthOf(entry.label, 11)))[1]) + 6;
        const isDirect = chart.series !== null && series.length <= 12 && names <= Math.max(92, sheet.width * 0.2);
        if (chart.series !== null && !isDirect) sheet.legend(series, titleOf(dimensionAt(figure, sheet.report, chart.series)) + ':');
        const margins = {left: 58, right: isDirect ? names + 18 : 22, bottom: 52};
        const height = Math.max(190, isDirect ? series.length * 15 + 20 : 0);
        const remarks = isOwn ? [OWN_SCALES] : [];
        if (panels.some((panel) => panel.rows.length > MOST_MARKS)) remarks.push('of long curves every so many values are drawn; the CSV file has all');
        placePanels(sheet, figure, panels, {least: Math.min(sheet.width - 8, margins.left + margins.right + 175), heightOf: () => height, margins, remarks},
            (panel, left, top, width, _, isFirst) => {
                const step = Math.ceil(panel.rows.length / MOST_MARKS);
                const scale = panel.range.map((value) => value / size);
                const isLog = scale[0] > 0 && (axis.log || spansMuch(scale));
                const y = isLog ? logAxis(scale, 7) : scaledAxis(scale, 6);
                const ticks = x.numbers.length * 40 <= width ? x.numbers : spread(x.numbers, Math.max(2, Math.floor(width / 52)), isLogX);
                const label = (value) => {
                    const at = x.numbers.findIndex((known) => Math.abs(known - value) <= 1e-9 * Math.abs(known));
                    return at < 0 ? '' : isQuantity ? digits(x.numbers[at] / xSize) : shorten(x.values[at], 12);
                };
                const index = sheet.grid(left, top, width, height, {
                    type: isLogX ? 'log' : 'value', min: isLogX ? first / 1.06 : first - margin, max: isLogX ? last * 1.06 : last + margin,
                    name: title, nameGap: 28, axisLabel: {customValues: ticks, formatter: label, hideOverlap: false}, axisTick: {customValues: ticks},
                }, Object.assign({name: isFirst || isOwn ? axisTitle(axis, unit) : '', nameGap: 42}, y));
                const labels = [];
                for (const entry of series) {
                    const found = panel.rows.filter((row) => chart.series === null || row[chart.series] === entry.value)
                        .sort((a, b) => number.get(a[chart.x]) - number.get(b[chart.x])).filter((_row, i) => i % step === 0);
                    sheet.series(index, {
                        type: 'line', name: entry.name, symbol: entry.symbol, symbolSize: 7.5, showSymbol: true, clip: false,
                        lineStyle: {color: entry.colour, width: 2}, itemStyle: {color: entry.colour},
                        data: found.map((row) => ({
                            value: [number.get(row[chart.x]), row[chart.value] / size],
                            lines: pointLines(sheet, figure, row, axis.unit, ends),
                        })),
                    });
                    if ('greatest' in chart) {
                        sheet.series(index, errorBars(sheet.theme.text,
                            found.map((row) => [number.get(row[chart.x]), row[chart.least] / size, row[chart.greatest] / size]), false));
                    }
                    if (isDirect && found.length > 0) {
                        const value = found[found.length - 1][chart.value] / size;
                        const share = isLog ? Math.log(value / y.min) / Math.log(y.max / y.min) : (value - y.min) / (y.max - y.min);
                        labels.push({label: entry.label, colour: entry.colour, y: top + height * (1 - share)});
                    }
                }
                if (chart.line !== undefined) {
                    sheet.series(index, {type: 'line', silent: true, symbol: 'none', data: [], markLine: {
                        silent: true, symbol: 'none', label: {show: false}, data: [{yAxis: chart.line / size}],
                        lineStyle: {color: sheet.theme.muted, type: 'dashed', width: 1},
                    }});
                }
                labelEnds(sheet, labels, left + width + 14, top, top + height, names);
            });
    }

    /** Of many numbers some that are far enough apart to be told on an axis. */
    function spread(numbers, most, isLog) {
        const scale = isLog ? Math.log : (value) => value;
        const apart = (scale(numbers[numbers.length - 1]) - scale(numbers[0])) / most;
        const chosen = [];
        for (const number of numbers) {
            if (chosen.length === 0 || scale(number) - scale(chosen[chosen.length - 1]) >= apart * 0.999) chosen.push(number);
        }
        return chosen;
    }

    function heat(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const x = dimensionAt(figure, sheet.report, chart.x);
        const y = dimensionAt(figure, sheet.report, chart.y);
        const [least, most] = range(columnOf(figure, chart.value));
        const isLog = axis.log && least > 0;
        const shadeOf = isLog ? Math.log10 : (value) => value;
        const [size, unit] = unitFor(axis.unit, most);
        shades(sheet, shadeOf(least), shadeOf(most), [amount(most, axis.unit), `${axis.title}: ${amount(least, axis.unit)}`]);
        const placeX = new Map(x.values.map((value, i) => [value, i]));
        const placeY = new Map(y.values.map((value, i) => [value, i]));
        const textsX = x.values.map((value) => valueText(x, value, 18));
        const textsY = y.values.map((value) => valueText(y, value, 20));
        const left = Math.min(150, range(textsY.map((text) => widthOf(text, 11)))[1]) + 38;
        const leastWidth = Math.min(sheet.width - 8, Math.max(240, left + 24 + x.values.length * 40));
        const labels = categoryLabels(textsX, leastWidth - left - 24);
        const row = Math.min(40, Math.max(20, 300 / y.values.length));
        placePanels(sheet, figure, panelsOf(figure, sheet.report, chart.panels), {
            least: leastWidth, heightOf: () => Math.max(70, widthOf(titleOf(y)), row * y.values.length),
            margins: {left, right: 16, bottom: labels.height + 32},
        }, (panel, at, top, width, height) => {
            const index = sheet.grid(at, top, width, height,
                {type: 'category', data: x.values.map((_, i) => String(i)), name: titleOf(x), nameGap: labels.height + 6, axisLabel: labels.label, splitArea: {show: false}},
                {type: 'category', data: y.values.map((_, i) => String(i)), name: titleOf(y), nameGap: left - 16,
                    axisLabel: {hideOverlap: true, formatter: (value) => fitted(textsY[Number(value)], 152, 11)}});
            const fits = width / x.values.length >= 40 && height / y.values.length >= 15;
            const hasUnit = width / x.values.length >= 66;
            sheet.series(index, {
                type: 'heatmap', itemStyle: {borderColor: sheet.theme.back, borderWidth: 1},
                data: panel.rows.map((one) => ({
                    value: [placeX.get(one[chart.x]), placeY.get(one[chart.y]), shadeOf(one[chart.value])],
                    lines: pointLines(sheet, figure, one, axis.unit, [chart.value]),
                    label: {
                        show: fits, formatter: digits(one[chart.value] / size) + (hasUnit ? ' ' + unit : ''), fontSize: 11,
                        fontFamily: FONT, textBorderWidth: 0,
                        color: shadeOf(one[chart.value]) > shadeOf(least) + 0.45 * (shadeOf(most) - shadeOf(least)) ? '#ffffff' : '#1c2330',
                    },
                })),
            });
        });
    }

    return {FORMS: {bars: rows, dots: rows, lines, heat}};
})();
