// A sheet to draw on with ECharts, and what all figures have in common: texts, units, axes. Nothing here touches a
// document. Texts of the study go to ECharts as labels only, cut short; what tells things apart inside are numbers, so a
// name may be anything.
'use strict';

const astrolabeSheet = (() => {
    const {VIRIDIS, seriesStyle, partColours} = astrolabeColours;
    // ECharts writes attributes of SVG in double quotes, and these as they are.
    const FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

    const THEMES = {
        light: {text: '#1c2330', muted: '#4f5866', line: '#aeb5bf', split: '#e6e9ed', back: '#ffffff'},
        dark: {text: '#e6e9ee', muted: '#aab3c0', line: '#56606e', split: '#2a313b', back: '#14181d'},
    };

    // Without a prototype: a unit may be called as a property of one.
    const UNITS = Object.assign(Object.create(null), {
        s: [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns'], [1e-12, 'ps']],
        B: [[1e15, 'PB'], [1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']],
        'bit/s': [[1e12, 'Tbit/s'], [1e9, 'Gbit/s'], [1e6, 'Mbit/s'], [1e3, 'kbit/s'], [1, 'bit/s']],
        'FLOP/s': [[1e15, 'PFLOP/s'], [1e12, 'TFLOP/s'], [1e9, 'GFLOP/s'], [1, 'FLOP/s']],
        FLOP: [[1e12, 'TFLOP'], [1e9, 'GFLOP'], [1e6, 'MFLOP'], [1, 'FLOP']],
        $: [[1e9, 'G$'], [1e6, 'M$'], [1e3, 'k$'], [1, '$']],
        '%': [[0.01, '%']],
        x: [[1, '×']],
        '': [[1, '']],
    });

    /** The unit in which `value` reads best. */
    function unitFor(unit, value) {
        const units = UNITS[unit] || [[1, unit]];
        return units.find(([size]) => Math.abs(value) >= size * 0.9999) || units[units.length - 1];
    }

    function digits(value) {
        if (value === 0) return '0';
        const text = Math.abs(value) >= 999.5 ? value.toFixed(0) : value.toPrecision(3);  // 999.5 in three digits is 1.00e+3
        return text.includes('e') ? text : text.includes('.') ? text.replace(/\.?0+$/, '') : text;
    }

    function amount(value, unit) {
        if (value === null || value === undefined) return '–';
        if (value === 0) return '0';
        const [size, name] = unitFor(unit, value);
        return digits(value / size) + (name === '' || name === '×' || name === '%' ? name : ' ' + name);
    }

    /** ECharts keeps the widths of texts as properties of an object: a text like "__proto__" gets a space of no width. */
    const asLabel = (text) => (text in Object.prototype ? text + '\u200b' : text);

    function shorten(text, most) {
        const line = String(text).replace(/\s+/g, ' ');
        const characters = Array.from(line.slice(0, 4 * most));
        return asLabel(characters.length > most ? characters.slice(0, most - 1).join('') + '…' : characters.join(''));
    }

    /** "workload.batch.global" is "batch.global": of columns without words of their own. */
    const shortName = (path) => shorten(path.split('.').slice(-2).join('.'), 32);

    /** Of a parameter, in words. */
    const labelOf = (dimension) => shorten(dimension.label || shortName(dimension.name), 40);

    /** Of one of its values: quantities with three digits, names as they are. */
    function valueText(dimension, value, most = 24) {
        const at = dimension.numbers ? dimension.values.indexOf(value) : -1;
        return at >= 0 && dimension.unit in UNITS && dimension.unit !== '' ? amount(dimension.numbers[at], dimension.unit) : shorten(value, most);
    }

    const BOLD = 1.15;
    // Widths of letters in DejaVu Sans, the widest of the fonts above, as shares of its size.
    const WIDTHS = new Map([...Array.from("iljI.,:;|'! /", (letter) => [letter, 0.34]), ...Array.from('tfr()[]-·"', (letter) => [letter, 0.42]),
        ...Array.from('csxyzkvJL?_=', (letter) => [letter, 0.6]), ...Array.from('mwMW%@…—', (letter) => [letter, 1])]);
    /** Of a text in pixels, at most. */
    function widthOf(text, size = 12) {
        let width = 0;
        for (const letter of String(text)) {
            width += WIDTHS.get(letter) || (letter >= 'A' && letter <= 'Z' ? 0.78 : letter.charCodeAt(0) > 0x2e7f ? 1.05 : 0.64);
        }
        return width * size;
    }

    /** As much of a text as has room. */
    function fitted(text, room, size = 12) {
        const line = shorten(text, 400);
        if (widthOf(line, size) <= room) return line;
        const characters = Array.from(line);
        let most = characters.length - 1;
        while (most > 1 && widthOf(characters.slice(0, most).join('') + '…', size) > room) most -= 1;
        return characters.slice(0, most).join('') + '…';
    }

    /** Lines of words that have room, of a text of at most so many lines. */
    function wrapped(text, room, size, most = 3) {
        const lines = [];
        for (const word of shorten(text, 600).split(' ')) {
            const longer = lines.length > 0 ? `${lines[lines.length - 1]} ${word}` : word;
            if (lines.length > 0 && widthOf(longer, size) <= room) lines[lines.length - 1] = longer;
            else lines.push(word);
        }
        if (lines.length > most) lines.splice(most - 1, lines.length, lines.slice(most - 1).join(' '));
        return lines.map((line) => fitted(line, room, size));
    }

    function range(values) {
        let least = Infinity;
        let most = -Infinity;
        for (const value of values) {
            if (value === null || value === undefined) continue;
            least = Math.min(least, value);
            most = Math.max(most, value);
        }
        return least <= most ? [least, most] : [0, 1];
    }

    // Everything that is drawn is on one sheet: a legend on top, panels below it.
    class Sheet {
        constructor(report, theme, width) {
            this.report = report;
            this.theme = THEMES[theme];
            this.width = width;
            this.height = 8;
            this.option = {
                animation: false,
                backgroundColor: 'transparent',
                textStyle: {fontFamily: FONT, color: this.theme.text},
                aria: {enabled: false},
                title: [], grid: [], xAxis: [], yAxis: [], series: [], graphic: {elements: []},
            };
        }

        title(text) {
            for (const line of wrapped(text, this.width - 16, BOLD * 15)) {
                this.text(line, 8, this.height, {fontSize: 15, fontWeight: 600, color: this.theme.text});
                this.height += 20;
            }
            this.height += 6;
        }

        /** Anything that stands by itself. */
        text(text, left, top, style = {}) {
            const {align = 'left', ...rest} = style;
            this.option.title.push({
                text, top, padding: 0, textAlign: align, left,
                textStyle: Object.assign({fontSize: 12, fontWeight: 400, color: this.theme.muted, fontFamily: FONT}, rest),
            });
        }

        /** The heading of a panel. */
        caption(text, left, top, width) {
            this.text(fitted(text, width, BOLD * 12), left, top + 2, {fontWeight: 600, color: this.theme.text});
        }

        /** Lines of a remark, below what is there. */
        remark(text) {
            for (const line of wrapped(text, this.width - 16, 11, 4)) {
                this.text(line, 8, this.height, {fontSize: 11});
                this.height += 15;
            }
            this.height += 5;
        }

        /** Above the labels of rows: to their right end, or over the panel where it is longer. */
        rowHeading(text, right, top, room, more) {
            const line = fitted(text, room + more, 11);
            this.heading(line, right + Math.max(0, widthOf(line, 11) - room), top);
        }

        heading(text, right, top) {
            this.text(text, right, top, {fontSize: 11, align: 'right'});
        }

        /** `entries` are {name, label, colour, symbol}; names are those of series. */
        legend(entries, heading) {
            if (entries.length === 0) return;
            const head = heading ? fitted(heading, this.width / 2, 12) : '';
            const start = 8;
            let left = start + (head ? widthOf(head) + 10 : 0);
            const indent = left > this.width / 3 ? start : left;
            if (head) this.text(head, start, this.height + 1);
            // One legend an entry: where each one stands is not left to chance.
            this.option.legend = this.option.legend || [];
            for (const entry of entries) {
                const label = fitted(entry.label, this.width - indent - 36);
                const width = 20 + widthOf(label) + 12;
                if (left + width > this.width && left > indent) {
                    left = indent;
                    this.height += 19;
                }
                this.option.legend.push({
                    left, top: this.height - 3, padding: [3, 0], itemGap: 0, itemWidth: 14, itemHeight: 10, inactiveColor: this.theme.line,
                    textStyle: {color: this.theme.text, fontSize: 12, fontFamily: FONT, padding: [0, 0, 0, -1]},
                    formatter: () => label,
                    data: [{name: entry.name, icon: entry.symbol || 'roundRect', itemStyle: {color: entry.colour}}],
                });
                left += width;
            }
            this.height += 25;
        }

        /** What marks of several shapes mean: {symbol, label}. */
        marks(entries) {
            let left = 8;
            for (const {symbol, label} of entries) {
                if (left > 8 && left + 28 + widthOf(label) > this.width) {
                    left = 8;
                    this.height += 19;
                }
                const colour = {fill: this.theme.muted};
                this.option.graphic.elements.push(symbol === 'triangle'
                    ? {type: 'polygon', left, top: this.height + 3, silent: true, shape: {points: [[0, 9], [5, 0], [10, 9]]}, style: colour}
                    : {type: 'circle', left, top: this.height + 3, silent: true, shape: {cx: 4.5, cy: 4.5, r: 4.5}, style: colour});
                this.text(label, left + 16, this.height + 1);
                left += 16 + widthOf(label) + 14;
            }
            this.height += 22;
        }

        axisStyle(extra) {
            const {line, split, muted} = this.theme;
            const text = {color: muted, fontFamily: FONT};
            return Object.assign({nameLocation: 'middle', nameTextStyle: Object.assign({fontSize: 12}, text)}, extra, {
                axisLine: {show: true, lineStyle: {color: line}},
                axisTick: Object.assign({show: true, lineStyle: {color: line}}, extra.axisTick),
                splitLine: Object.assign({show: false, lineStyle: {color: split}}, extra.splitLine),
                axisLabel: Object.assign({fontSize: 11, hideOverlap: true}, text, extra.axisLabel),
            });
        }

        grid(left, top, width, height, x, y) {
            const index = this.option.grid.length;
            this.option.grid.push({left, top, width, height, outerBoundsMode: 'none'});
            this.option.xAxis.push(this.axisStyle(Object.assign({gridIndex: index}, x, {name: fitted(x.name || '', width + 40)})));
            this.option.yAxis.push(this.axisStyle(Object.assign({gridIndex: index}, y, {name: fitted(y.name || '', height + 20)})));
            return index;
        }

        series(index, series) {
            this.option.series.push(Object.assign({xAxisIndex: index, yAxisIndex: index}, series));
        }
    }

    const STEPS = [[1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1, 3], [1]];

    /** Ticks of a logarithmic axis, about as many as have room. */
    function logTicks(least, most, room) {
        let ticks = [least, most];
        for (const steps of STEPS) {
            ticks = [];
            for (let power = Math.floor(Math.log10(least)) - 1; power <= Math.ceil(Math.log10(most)); ++power) {
                for (const step of steps) ticks.push(Number((step * 10 ** power).toPrecision(2)));
            }
            ticks = ticks.filter((tick) => tick >= least && tick <= most);
            if (ticks.length <= room) return ticks;
        }
        const every = Math.ceil(ticks.length / room);
        return ticks.filter((_, i) => i % every === 0);
    }

    /** Of what is compared in ratios; the ends are those of the data, with room for marks. */
    function logAxis([least, most], room = 6) {
        const margin = Math.max(1.06, (most / least) ** 0.06);
        const [min, max] = [least / margin, most * margin];
        const ticks = logTicks(min, max, room);
        return {
            type: 'log', min, max, splitLine: {show: true}, axisLabel: {customValues: ticks, formatter: digits},
            axisTick: {show: true, customValues: ticks},
        };
    }

    const ROUNDS = [[1, 0.2], [1.2, 0.2], [1.6, 0.4], [2, 0.5], [2.5, 0.5], [3, 0.5], [4, 1], [5, 1], [6, 1], [8, 2], [10, 2]];

    /** From zero to a round number. */
    function linearAxis(most, room = 6) {
        const power = most > 0 ? 10 ** Math.floor(Math.log10(most)) : 1;
        const [end, step] = ROUNDS.find(([round]) => round * power >= most * 0.999999) || [10, 2];
        const interval = end / step > room ? (end / step > 2 * room ? end : end / 2) : step;
        return {type: 'value', min: 0, max: end * power, interval: interval * power, splitLine: {show: true}, axisLabel: {formatter: digits}};
    }

    /** Of lines and dots on a linear axis: from zero, or closer where all is far from it. */
    function scaledAxis([least, most], room = 6) {
        if (least < 0.6 * most) return linearAxis(most * 1.04, room);
        const span = most - least || most || 1;
        const power = 10 ** Math.floor(Math.log10(span / 3));
        const step = power * [1, 2, 5, 10].find((one) => one * power * Math.min(room, 5) >= span * 1.1);
        return {type: 'value', min: Math.floor((least - 0.05 * span) / step) * step, max: Math.ceil((most + 0.05 * span) / step) * step,
            interval: step, splitLine: {show: true}, axisLabel: {formatter: digits}};
    }

    /** Whether values spread so much that a logarithmic axis shows them better. */
    const spansMuch = ([least, most]) => least > 0 && most / least >= 8;

    /** Each the same number of times the one before it, from three on. */
    const isGeometric = (numbers) => numbers.length >= 3 && numbers[0] > 0 &&
        numbers.every((number, i) => i === 0 || Math.abs(number / numbers[i - 1] - numbers[1] / numbers[0]) < 1e-6);

    const axisTitle = (axis, name) => (name && name !== '×' ? `${axis.title}, ${name}` : axis.title);

    /** Labels of a category axis that do not run into each other. */
    function categoryLabels(texts, width) {
        const longest = range(texts.map((text) => widthOf(text, 11)))[1];
        const room = width / texts.length;
        const isTurned = longest + 6 > room;
        return {
            height: isTurned ? Math.min(130, longest * 0.87 + 16) : 20,
            label: {
                interval: isTurned && room < 12 ? Math.ceil(12 / room) - 1 : 0, rotate: isTurned ? 60 : 0,
                hideOverlap: false, formatter: (value, index) => texts[index],
            },
        };
    }

    /** A legend of shades, from the least to the greatest value. */
    function shades(sheet, least, most, text) {
        const [high, low] = text;
        const colon = low.lastIndexOf(': ');
        const isWide = widthOf(low) + widthOf(high) + 160 <= sheet.width;
        if (!isWide && colon > 0) {
            sheet.text(fitted(low.slice(0, colon), sheet.width - 16), 8, sheet.height);
            sheet.height += 18;
        }
        const start = isWide || colon < 0 ? low : low.slice(colon + 2);
        const left = 8 + widthOf(start) + 6;
        sheet.text(start, 8, sheet.height + 2, {color: sheet.theme.text});
        sheet.text(high, left + 126 + 6, sheet.height + 2, {color: sheet.theme.text});
        sheet.option.visualMap = {
            type: 'continuous', min: least, max: most === least ? least + 1e-9 : most, dimension: 2, calculable: false, show: true,
            orient: 'horizontal', left, top: sheet.height + 2, padding: 0, itemWidth: 12, itemHeight: 120, inRange: {color: VIRIDIS},
        };
        sheet.height += 32;
    }

    return {
        Sheet, THEMES, FONT, UNITS, amount, digits, shorten, shortName, labelOf, valueText, widthOf, fitted, range, unitFor, seriesStyle, partColours,
        logAxis, linearAxis, scaledAxis, spansMuch, isGeometric, axisTitle, categoryLabels, shades,
    };
})();
