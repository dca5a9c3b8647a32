// From a figure (study/include/astrolabe/study/report/report.hpp) to an option of ECharts: for the page and for
// pictures alike. What a figure's `chart` says of `x`, `value`, `series` and `panels` are places of columns.
'use strict';

const astrolabeCharts = (() => {
    const {
        Sheet, THEMES, FONT, amount, digits, shorten, shortName, widthOf, range, unitFor, seriesStyle, partColour, valueAxis, linearAxis,
        isGeometric, axisTitle, categoryLabels, shades,
    } = astrolabeSheet;
    const MOST_PANELS = 36;
    const MOST_BARS = 600;
    const MOST_BAR_WIDTH = 72;
    const MOST_MARKS = 4000;

    const key = (...parts) => JSON.stringify(parts);
    const valueAt = (row, place) => (place === null || place === undefined ? '' : row[place]);
    const columnOf = (figure, place) => figure.rows.map((row) => row[place]);

    /** Rows by what is in the columns `places`, in the order of the dimensions' values. */
    function panelsOf(figure, report, places) {
        const order = places.map((place) => {
            const values = report.dimensions.find((dimension) => dimension.name === figure.columns[place]).values;
            return new Map(values.map((value, index) => [value, index]));
        });
        const panels = new Map();
        for (const row of figure.rows) {
            const at = places.map((place, i) => order[i].get(row[place]));
            const key = at.join(' ');
            if (!panels.has(key)) {
                const values = places.map((place) => shorten(row[place], 40));
                const label = places.map((place, i) => `${shortName(figure.columns[place])} = ${values[i]}`).join(', ');
                panels.set(key, {at, label, values, rows: []});
            }
            panels.get(key).rows.push(row);
        }
        const compare = (a, b) => a.at.reduce((sign, value, i) => sign || value - b.at[i], 0);
        return [...panels.values()].sort(compare);
    }

    const dimensionAt = (figure, report, place) =>
        (place === null || place === undefined
            ? {name: '', values: [''], numbers: null}
            : report.dimensions.find((dimension) => dimension.name === figure.columns[place]));

    const panelNames = (figure) => figure.chart.panels.map((place) => shortName(figure.columns[place]));

    /** Lines of a tooltip: where the point is, then what is drawn. */
    function pointLines(sheet, figure, row, unit, drawn) {
        const names = new Set(sheet.report.dimensions.map((dimension) => dimension.name));
        const places = figure.columns.flatMap((column, place) => (names.has(column) ? [[column, row[place]]] : []));
        return places.concat(drawn.map((place) => [figure.columns[place], amount(row[place], unit)]));
    }

    /** Panels side by side, as many as fit. */
    function placePanels(sheet, panels, least, heightOf, margins, draw, remark) {
        const drawn = panels.slice(0, MOST_PANELS);
        const most = Math.max(1, Math.min(drawn.length, Math.floor((sheet.width - 8) / least)));
        const columns = Math.ceil(drawn.length / Math.ceil(drawn.length / most));
        const width = (sheet.width - 8) / columns;
        // Where names and values are too long for a panel, the names are told once.
        if (drawn.some((panel) => widthOf(panel.label) * 1.12 > width - margins.left)) {
            for (const panel of drawn) panel.label = panel.values.join(' · ');
            sheet.caption(`panels: ${margins.names.join(' · ')}`, 12, sheet.height, sheet.width);
            sheet.height += 24;
        }
        for (let first = 0; first < drawn.length; first += columns) {
            const line = drawn.slice(first, first + columns);
            const height = Math.max(...line.map(heightOf));
            const head = line.some((panel) => panel.label !== '') ? 24 : margins.head || 8;
            line.forEach((panel, i) => {
                const left = 4 + i * width + margins.left;
                if (panel.label !== '') sheet.caption(panel.label, left - 6, sheet.height, width - margins.left + 4);
                draw(panel, left, sheet.height + head, width - margins.left - margins.right, heightOf(panel), i === 0);
            });
            sheet.height += head + height + margins.bottom;
        }
        const remarks = panels.length > drawn.length ? [`${drawn.length} of ${panels.length} panels are drawn`] : [];
        if (remark) remarks.push(remark);
        for (const panel of drawn) {
            if (panel.all > panel.rows.length) remarks.push(`${panel.rows.length} of ${panel.all} bars are drawn`);
        }
        if (remarks.length > 0) {
            sheet.caption(`${[...new Set(remarks)].join('; ')}; the CSV file has all.`, 12, sheet.height, sheet.width);
            sheet.height += 24;
        }
    }

    /** Vertical lines from the least to the greatest value, over the middle of their bars. */
    function whiskers(count, place, name, colour, data) {
        return {
            type: 'custom', name, silent: true, z: 5, data, encode: {x: 0, y: [1, 2]}, itemStyle: {color: colour},
            renderItem: (params, api) => {
                const layout = api.barLayout({count, barGap: '8%', barCategoryGap: '26%', barMaxWidth: MOST_BAR_WIDTH})[place];
                const low = api.coord([api.value(0), api.value(1)]);
                const high = api.coord([api.value(0), api.value(2)]);
                const x = low[0] + layout.offsetCenter;
                const cap = Math.min(5, layout.width / 3);
                const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style: {stroke: colour, lineWidth: 1.2}});
                return {type: 'group', children: [line(x, low[1], x, high[1]), line(x - cap, high[1], x + cap, high[1]),
                    line(x - cap, low[1], x + cap, low[1])]};
            },
        };
    }

    function seriesEntries(figure, report, place) {
        const dimension = dimensionAt(figure, report, place);
        const used = new Set(place === null || place === undefined ? [''] : columnOf(figure, place));
        return dimension.values.map((value, index) => Object.assign({value, name: 's' + index, label: value}, seriesStyle(index)))
            .filter((entry) => used.has(entry.value));
    }

    function bars(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const series = seriesEntries(figure, sheet.report, chart.series);
        const x = dimensionAt(figure, sheet.report, chart.x);
        const used = new Set(chart.x === null ? [''] : columnOf(figure, chart.x));
        const all = x.values.filter((value) => used.has(value));
        const step = Math.ceil((all.length * series.length) / MOST_MARKS);
        const categories = all.filter((_, i) => i % step === 0);
        const ends = ['value', 'least', 'greatest'].filter((key) => key in chart).map((key) => chart[key]);
        const drawn = ends.flatMap((place) => columnOf(figure, place)).concat(chart.line || []);
        const [size, unit] = unitFor(axis.unit, range(drawn)[1]);
        const scaled = (value) => (value === null ? null : value / size);
        const y = valueAxis(drawn.map(scaled), axis, axis.log);
        if (chart.series !== null) sheet.legend(series.map((entry) => Object.assign({}, entry, {symbol: 'roundRect'})), shortName(figure.columns[chart.series]) + ':');
        const least = Math.min(sheet.width - 8, Math.max(290, categories.length * series.length * 11 + 90));
        const labels = categoryLabels(categories, Math.max(least, sheet.width / 4) - 90);
        placePanels(sheet, panelsOf(figure, sheet.report, chart.panels), least, () => 220,
            {left: 62, right: 18, bottom: labels.height + 34, names: panelNames(figure)},
            (panel, left, top, width, height, isFirst) => {
                const index = sheet.grid(left, top, width, height,
                    {type: 'category', data: categories, name: chart.x === null ? '' : shortName(x.name), nameGap: labels.height + 6,
                        axisLabel: labels.label},
                    Object.assign({name: isFirst ? axisTitle(axis, unit) : '', nameGap: 44}, y));
                const barWidth = (width / categories.length) * 0.74 / series.length;
                const known = new Map(panel.rows.map((row) => [key(valueAt(row, chart.x), valueAt(row, chart.series)), row]));
                series.forEach((entry, place) => {
                    const rows = categories.map((value) => known.get(key(value, entry.value)) || null);
                    const hasEnds = 'greatest' in chart;
                    sheet.series(index, {
                        type: 'bar', name: entry.name, barGap: '8%', barCategoryGap: '26%', barMaxWidth: MOST_BAR_WIDTH,
                        itemStyle: {color: entry.colour},
                        data: rows.map((row) => row && {value: scaled(row[chart.value]), lines: pointLines(sheet, figure, row, axis.unit, ends)}),
                        label: {
                            show: barWidth >= 24 && !hasEnds, position: 'top', fontSize: 10, color: sheet.theme.muted, fontFamily: FONT,
                            formatter: (params) => digits(params.value),
                        },
                        markLine: chart.line !== undefined && place === 0 ? {
                            silent: true, symbol: 'none', label: {show: false}, data: [{yAxis: chart.line / size}],
                            lineStyle: {color: sheet.theme.muted, type: 'dashed', width: 1},
                        } : undefined,
                    });
                    if (hasEnds) {
                        sheet.series(index, whiskers(series.length, place, entry.name, sheet.theme.text, rows.flatMap((row, i) =>
                            (row === null || row[chart.greatest] === null ? []
                                : [[i, scaled(row['least' in chart ? chart.least : chart.value]), scaled(row[chart.greatest])]]))));
                    }
                });
            }, step > 1 ? `one in ${step} values of ${shortName(x.name)} is drawn` : '');
    }

    function lines(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const series = seriesEntries(figure, sheet.report, chart.series);
        const x = dimensionAt(figure, sheet.report, chart.x);
        const number = new Map(x.values.map((value, i) => [value, x.numbers[i]]));
        const [size, unit] = unitFor(axis.unit, range(columnOf(figure, chart.value))[1]);
        const values = columnOf(figure, chart.value).map((value) => value / size);
        const spans = ([least, most]) => least > 0 && most / least >= 8;
        const y = valueAxis(values, axis, spans(range(values)));
        const isLog = spans(range(x.numbers)) || isGeometric(x.numbers);
        const ticks = x.numbers.length <= 14 ? x.numbers : x.numbers.filter((_, i) => i % Math.ceil(x.numbers.length / 12) === 0);
        const label = (value) => {
            const at = x.numbers.findIndex((known) => Math.abs(known - value) <= 1e-9 * Math.abs(known));
            return at < 0 ? '' : shorten(x.values[at], 12);
        };
        const [first, last] = range(x.numbers);
        const margin = (last - first) * 0.04 || 1;
        if (chart.series !== null) sheet.legend(series, shortName(figure.columns[chart.series]) + ':');
        const panels = panelsOf(figure, sheet.report, chart.panels);
        placePanels(sheet, panels, 310, () => 230, {left: 62, right: 22, bottom: 58, names: panelNames(figure)},
            (panel, left, top, width, height, isFirst) => {
                const step = Math.ceil(panel.rows.length / MOST_MARKS);
                const index = sheet.grid(left, top, width, height, {
                    type: isLog ? 'log' : 'value', min: isLog ? first / 1.12 : first - margin, max: isLog ? last * 1.12 : last + margin,
                    name: shortName(x.name), nameGap: 28,
                    axisLabel: {customValues: ticks, formatter: label}, axisTick: {customValues: ticks},
                }, Object.assign({name: isFirst ? axisTitle(axis, unit) : '', nameGap: 44}, y));
                for (const entry of series) {
                    const rows = panel.rows.filter((row) => chart.series === null || row[chart.series] === entry.value)
                        .sort((a, b) => number.get(a[chart.x]) - number.get(b[chart.x])).filter((_, i) => i % step === 0);
                    sheet.series(index, {
                        type: 'line', name: entry.name, symbol: entry.symbol, symbolSize: 7, showSymbol: true,
                        lineStyle: {color: entry.colour, width: 2}, itemStyle: {color: entry.colour},
                        data: rows.map((row) => ({
                            value: [number.get(row[chart.x]), row[chart.value] / size],
                            lines: pointLines(sheet, figure, row, axis.unit, [chart.value]),
                        })),
                    });
                }
            }, panels.some((panel) => panel.rows.length > MOST_MARKS) ? 'of long curves every so many values are drawn' : '');
    }

    function stack(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const parts = chart.parts.map((part, i) => Object.assign({colour: partColour(part.name, i), label: part.name, key: 'p' + i}, part));
        const sum = (row) => parts.reduce((total, part) => total + row[part.column], 0);
        const [size, unit] = chart.share ? [1, '%'] : unitFor(axis.unit, range(figure.rows.map(sum))[1]);
        sheet.legend(parts.map((part) => ({name: part.key, label: part.label.replace(/_/g, '-'), colour: part.colour})), '');
        const order = chart.bar.map((place) => new Map(dimensionAt(figure, sheet.report, place).values.map((value, i) => [value, i])));
        const labelOf = (row) => chart.bar.map((place) => shorten(row[place], 24)).join(' · ');
        const panels = panelsOf(figure, sheet.report, chart.panels);
        let left = 0;
        for (const panel of panels) {
            panel.rows.sort((a, b) => chart.bar.reduce((sign, place, i) => sign || order[i].get(a[place]) - order[i].get(b[place]), 0));
            panel.all = panel.rows.length;
            panel.rows = panel.rows.slice(0, MOST_BARS);
            for (const row of panel.rows) left = Math.max(left, widthOf(labelOf(row)));
        }
        const most = chart.share ? 100 : range(figure.rows.map(sum))[1] / size;
        const heading = chart.bar.map((place) => shortName(figure.columns[place])).join(' · ');
        left = Math.min(280, Math.max(30, left, widthOf(heading))) + 26;
        placePanels(sheet, panels, Math.max(380, left + 250), (panel) => panel.rows.length * 19 + 6, {left, right: 58, bottom: 56, head: 22, names: panelNames(figure)},
            (panel, x, top, width, height, isFirst) => {
                if (isFirst && heading) sheet.heading(heading, x - 14, top - 18);
                const index = sheet.grid(x, top, width, height,
                    Object.assign({name: axisTitle(axis, unit), nameGap: 28}, linearAxis(most)),
                    {type: 'category', inverse: true, data: panel.rows.map((_, i) => String(i)), axisTick: {show: false},
                        axisLabel: {interval: 0, hideOverlap: false, width: left - 30, overflow: 'truncate',
                            formatter: (value) => labelOf(panel.rows[Number(value)])}});
                for (const part of parts) {
                    sheet.series(index, {
                        type: 'bar', name: part.key, stack: `all${index}`, barWidth: 13, itemStyle: {color: part.colour},
                        data: panel.rows.map((row) => ({
                            value: chart.share ? 100 * row[part.column] / sum(row) : row[part.column] / size,
                            lines: pointLines(sheet, figure, row, axis.unit, parts.map((one) => one.column)),
                        })),
                    });
                }
                sheet.series(index, {
                    type: 'bar', name: 'sum', stack: `all${index}`, barWidth: 13, silent: true, data: panel.rows.map(() => 0),
                    label: {show: true, position: 'right', fontSize: 10, color: sheet.theme.muted, fontFamily: FONT,
                        formatter: (params) => amount(sum(panel.rows[params.dataIndex]), axis.unit)},
                });
            });
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
        const left = Math.min(150, Math.max(...y.values.map((value) => widthOf(shorten(value, 20))))) + 34;
        const labels = categoryLabels(x.values, 230);
        placePanels(sheet, panelsOf(figure, sheet.report, chart.panels), Math.min(sheet.width - 8, Math.max(300, left + x.values.length * 26)),
            () => Math.max(70, widthOf(shortName(y.name)), Math.min(40, Math.max(18, 300 / y.values.length)) * y.values.length), {left, right: 16, bottom: labels.height + 34, names: panelNames(figure)},
            (panel, at, top, width, height, isFirst) => {
                const index = sheet.grid(at, top, width, height,
                    {type: 'category', data: x.values, name: shortName(x.name), nameGap: labels.height + 6, axisLabel: labels.label, splitArea: {show: false}},
                    {type: 'category', data: y.values, name: isFirst ? shortName(y.name) : '', nameGap: left - 18,
                        axisLabel: {formatter: (value) => shorten(value, 20)}});
                const fits = width / x.values.length >= 34 && height / y.values.length >= 14;
                sheet.series(index, {
                    type: 'heatmap', itemStyle: {borderColor: sheet.theme.back, borderWidth: 1},
                    data: panel.rows.map((row) => ({
                        value: [placeX.get(row[chart.x]), placeY.get(row[chart.y]), shadeOf(row[chart.value])],
                        lines: pointLines(sheet, figure, row, axis.unit, [chart.value]),
                        label: {
                            show: fits, formatter: digits(row[chart.value] / size) + (x.values.length < 8 ? ' ' + unit : ''), fontSize: 11,
                            fontFamily: FONT, textBorderWidth: 0,
                            color: shadeOf(row[chart.value]) > shadeOf(least) + 0.45 * (shadeOf(most) - shadeOf(least)) ? '#ffffff' : '#1c2330',
                        },
                    })),
                });
            });
    }

    function pareto(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const series = seriesEntries(figure, sheet.report, chart.series);
        const costs = columnOf(figure, chart.x);
        const [size, unit] = unitFor(axis.unit, range(columnOf(figure, chart.value))[1]);
        const [dollars, currency] = unitFor('$', range(costs)[1]);
        const y = valueAxis(columnOf(figure, chart.value).map((value) => value / size), axis, axis.log);
        const [cheapest, dearest] = range(costs.map((cost) => cost / dollars));
        const isLog = cheapest > 0 && dearest / cheapest >= 8;
        const x = isLog ? valueAxis(costs.map((cost) => cost / dollars), axis, true)
            : {type: 'value', scale: true, splitLine: {show: true}, axisLabel: {formatter: digits},
                min: Math.max(0, cheapest - 0.15 * (dearest - cheapest || cheapest)), max: dearest + 0.15 * (dearest - cheapest || dearest)};
        if (x.type === 'value') x.axisLabel.showMinLabel = x.axisLabel.showMaxLabel = false;
        sheet.legend(series, shortName(figure.columns[chart.series]) + ':');
        placePanels(sheet, panelsOf(figure, sheet.report, chart.panels), 300, () => 210, {left: 62, right: 22, bottom: 58, names: panelNames(figure)},
            (panel, left, top, width, height, isFirst) => {
                const index = sheet.grid(left, top, width, height, Object.assign({name: `cost of the network (${currency})`, nameGap: 28}, x),
                    Object.assign({name: isFirst ? axisTitle(axis, unit) : '', nameGap: 44}, y));
                const place = (row) => [row[chart.x] / dollars, row[chart.value] / size];
                sheet.series(index, {
                    type: 'line', name: 'front', silent: true, symbol: 'none', step: 'end', z: 1,
                    lineStyle: {color: sheet.theme.muted, width: 1.2, type: 'dashed'},
                    data: panel.rows.filter((row) => row[chart.front] === 1).map(place).sort((a, b) => a[0] - b[0]),
                });
                for (const entry of series) {
                    sheet.series(index, {
                        type: 'scatter', name: entry.name, symbol: entry.symbol, symbolSize: 11, itemStyle: {color: entry.colour, opacity: 0.9},
                        data: panel.rows.filter((row) => row[chart.series] === entry.value).map((row) => ({
                            value: place(row),
                            itemStyle: row[chart.front] === 1 ? {borderColor: sheet.theme.text, borderWidth: 1.5, opacity: 1} : undefined,
                            lines: pointLines(sheet, figure, row, axis.unit, [chart.value]).concat([['network_cost', amount(row[chart.x], '$')]]),
                        })),
                    });
                }
            });
    }

    const FORMS = {bars, lines, stack, heat, pareto};

    /** Pictures of a figure: one, or one for each point. */
    function frames(figure) {
        const own = astrolabeDetails.FORMS[figure.chart.form];
        return own && own.byPoint ? figure.chart.frames : [null];
    }

    /** @returns {{option: object, height: number, marks: number}} a chart of this width; `marks` is how much there is to draw. */
    function draw(figure, frame, report, theme, width, standalone) {
        const sheet = new Sheet(report, theme, width);
        if (standalone) {
            sheet.option.backgroundColor = THEMES[theme].back;
            sheet.title(frame ? `${figure.title}: ${frame.label}` : figure.title);
        }
        const detail = astrolabeDetails.FORMS[figure.chart.form];
        if (detail) {
            detail.draw(sheet, figure, frame);
        } else {
            FORMS[figure.chart.form](sheet, figure);
        }
        const marks = sheet.option.series.reduce((sum, one) => sum + (one.data ? one.data.length : 0), 0);
        return {option: sheet.option, height: Math.ceil(sheet.height + 6), marks};
    }

    return {draw, frames};
})();
