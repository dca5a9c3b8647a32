// A sheet to draw on with ECharts, and what all figures have in common: colours, units, axes. Nothing here touches a
// document. Texts of the study go to ECharts as labels only, cut short; what tells things apart inside are numbers, so a
// name may be anything.
'use strict';

const astrolabeSheet = (() => {
    const SERIES = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#8F8F8F', '#B8A400'];
    const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'emptyCircle', 'emptyRect', 'emptyTriangle', 'emptyDiamond'];
    // Paul Tol, bright: what time and traffic are made of.
    const PARTS = new Map([
        ['compute', '#4477AA'], ['all_reduce', '#EE6677'], ['all_to_all', '#228833'], ['all_gather', '#CCBB44'],
        ['reduce_scatter', '#66CCEE'], ['point_to_point', '#AA3377'], ['broadcast', '#EE8866'], ['reduce', '#99DDFF'],
        ['drain', '#BBBBBB'],
    ]);
    const VIRIDIS = ['#fde725', '#90d743', '#35b779', '#21918c', '#31688e', '#443983', '#440154'];
    // ECharts writes attributes of SVG in double quotes, and these as they are.
    const FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif";

    const THEMES = {
        light: {text: '#1c2330', muted: '#5b6472', line: '#c9ced6', split: '#e8ebef', back: '#ffffff'},
        dark: {text: '#e6e9ee', muted: '#a4adba', line: '#4a5361', split: '#2a313b', back: '#14181d'},
    };

    const UNITS = {
        s: [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns'], [1e-12, 'ps']],
        B: [[1e15, 'PB'], [1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']],
        'bit/s': [[1e12, 'Tbit/s'], [1e9, 'Gbit/s'], [1e6, 'Mbit/s'], [1e3, 'kbit/s'], [1, 'bit/s']],
        $: [[1e9, 'G$'], [1e6, 'M$'], [1e3, 'k$'], [1, '$']],
        '%': [[0.01, '%']],
        x: [[1, '×']],
        '': [[1, '']],
    };

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

    function shorten(text, most) {
        const line = String(text).replace(/\s+/g, ' ');
        const characters = Array.from(line.slice(0, 4 * most));
        return characters.length > most ? characters.slice(0, most - 1).join('') + '…' : characters.join('');
    }

    /** "workload.batch.global" is "batch.global". */
    const shortName = (path) => shorten(path.split('.').slice(-2).join('.'), 32);
    const widthOf = (text) => Array.from(text).length * 6.6;

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

    function shade(colour, cycle) {
        if (cycle === 0) return colour;
        const part = (at) => parseInt(colour.slice(at, at + 2), 16);
        const mix = (value) => Math.round(value + (cycle % 2 === 1 ? 255 - value : -value) * 0.45);
        return `rgb(${mix(part(1))},${mix(part(3))},${mix(part(5))})`;
    }

    /** Of the value of a dimension, the same in all figures. */
    function seriesStyle(index) {
        const cycle = Math.floor(index / SERIES.length);
        return {colour: shade(SERIES[index % SERIES.length], cycle), symbol: SYMBOLS[index % SYMBOLS.length]};
    }

    /** Of a part of time or traffic; several causes of one kind, "layer 3.all_reduce", are shades of its colour. */
    function partColour(name, index) {
        const part = name.replace(/^wait: /, '');
        if (PARTS.has(part)) return PARTS.get(part);
        const kind = [...PARTS.keys()].find((key) => part.endsWith(key));
        return shade(kind ? PARTS.get(kind) : SERIES[index % SERIES.length], index % 3);
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
                title: [], grid: [], xAxis: [], yAxis: [], series: [],
            };
        }

        title(text) {
            this.option.title.push({
                text: shorten(text, 110), left: 12, top: 8,
                textStyle: {fontSize: 15, fontWeight: 600, color: this.theme.text, fontFamily: FONT},
            });
            this.height += 30;
        }

        caption(text, left, top, width) {
            this.option.title.push({
                text: shorten(text, Math.max(8, Math.floor(width / 7.4))), left, top,
                textStyle: {fontSize: 12, fontWeight: 600, color: this.theme.text, fontFamily: FONT},
            });
        }

        heading(text, right, top) {
            this.option.title.push({
                text, left: right, top, textAlign: 'right',
                textStyle: {fontSize: 11, fontWeight: 400, color: this.theme.muted, fontFamily: FONT},
            });
        }

        /** `entries` are {name, label, colour, symbol}; names are those of series. */
        legend(entries, heading) {
            if (entries.length === 0) return;
            const label = new Map(entries.map((entry) => [entry.name, shorten(entry.label, 36)]));
            const widths = entries.map((entry) => widthOf(label.get(entry.name)) + 40);
            const room = this.width - 24 - (heading ? widthOf(heading) + 16 : 0);
            let lines = 1;
            let used = 0;
            for (const width of widths) {
                if (used > 0 && used + width > room) {
                    lines += 1;
                    used = 0;
                }
                used += width;
            }
            const isLong = lines > 6;
            const left = heading ? 12 + widthOf(heading) + 12 : 8;
            if (heading) {
                this.option.title.push({
                    text: heading, left: 12, top: this.height - 3,
                    textStyle: {fontSize: 12, fontWeight: 400, color: this.theme.muted, fontFamily: FONT},
                });
            }
            this.option.legend = {
                type: isLong ? 'scroll' : 'plain', left, top: this.height - 4, width: room, itemGap: 14, itemWidth: 14,
                itemHeight: 10, inactiveColor: this.theme.line,
                textStyle: {color: this.theme.text, fontSize: 12, fontFamily: FONT},
                pageTextStyle: {color: this.theme.text},
                formatter: (name) => label.get(name) || '',
                data: entries.map((entry) => ({
                    name: entry.name, icon: entry.symbol || 'roundRect', itemStyle: {color: entry.colour},
                })),
            };
            this.height += (isLong ? 1 : lines) * 22 + 10;
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
            this.option.xAxis.push(this.axisStyle(Object.assign({gridIndex: index}, x)));
            this.option.yAxis.push(this.axisStyle(Object.assign({gridIndex: index}, y)));
            return index;
        }

        series(index, series) {
            this.option.series.push(Object.assign({xAxisIndex: index, yAxisIndex: index}, series));
        }
    }

    /** Steps of 1, 2 and 5 between powers of ten, or powers alone where there are many. */
    function logTicks(least, most) {
        const decades = Math.log10(most / least);
        const steps = decades > 3.2 ? [1] : [1, 2, 5];
        const ticks = [];
        for (let power = Math.floor(Math.log10(least)) - 1; power <= Math.ceil(Math.log10(most)) + 1; ++power) {
            for (const step of steps) ticks.push(Number((step * 10 ** power).toPrecision(1)));
        }
        const first = Math.max(0, ticks.findIndex((tick) => tick > least * 0.9) - 1);
        const last = ticks.findIndex((tick) => tick >= most * 1.1);  // room for what stands above a bar
        return ticks.slice(first, last + 1);
    }

    /** Of values that are divided by `size` already. */
    function valueAxis(values, axis, log) {
        const [least, most] = range(values);
        if (log && least > 0) {
            const ticks = logTicks(least, most);
            return {
                type: 'log', min: ticks[0], max: ticks[ticks.length - 1], startValue: ticks[0], splitLine: {show: true},
                axisLabel: {customValues: ticks, formatter: digits}, axisTick: {show: true, customValues: ticks},
            };
        }
        return linearAxis(axis.unit === '%' && most <= 100 ? 100 : most * 1.07);
    }

    /** From zero to a round number, the same in all panels. */
    function linearAxis(most) {
        const rounds = [[1, 0.2], [1.2, 0.2], [1.6, 0.4], [2, 0.5], [2.5, 0.5], [3, 0.5], [4, 1], [5, 1], [6, 1], [8, 2], [10, 2]];
        const power = most > 0 ? 10 ** Math.floor(Math.log10(most)) : 1;
        const [end, step] = rounds.find(([round]) => round * power >= most * 0.999999) || [10, 2];
        return {type: 'value', min: 0, max: end * power, interval: step * power, splitLine: {show: true}, axisLabel: {formatter: digits}};
    }

    /** Each the same number of times the one before it, from three on. */
    const isGeometric = (numbers) => numbers.length >= 3 && numbers[0] > 0 &&
        numbers.every((number, i) => i === 0 || Math.abs(number / numbers[i - 1] - numbers[1] / numbers[0]) < 1e-6);

    const axisTitle = (axis, name) => (name ? `${axis.title} (${name})` : axis.title);

    /** Labels of a category axis that do not run into each other. */
    function categoryLabels(values, width) {
        const longest = range(values.map((value) => widthOf(shorten(value, 18))))[1];
        const room = width / values.length;
        const isTurned = longest + 6 > room;
        return {
            height: isTurned ? Math.min(110, longest * 0.8 + 14) : 20,
            label: {
                interval: isTurned && room < 12 ? Math.ceil(12 / room) - 1 : 0, rotate: isTurned ? 60 : 0,
                hideOverlap: false, formatter: (value) => shorten(value, 18),
            },
        };
    }

    /** A legend of shades, from the least to the greatest value. */
    function shades(sheet, least, most, text) {
        sheet.option.visualMap = {
            type: 'continuous', min: least, max: most === least ? least + 1e-9 : most, dimension: 2, calculable: false, show: true,
            orient: 'horizontal', left: 12, top: sheet.height - 4, itemWidth: 12, itemHeight: 150, inRange: {color: VIRIDIS},
            text, textGap: 8, textStyle: {color: sheet.theme.text, fontSize: 12, fontFamily: FONT},
        };
        sheet.height += 36;
    }

    return {
        Sheet, THEMES, FONT, amount, digits, shorten, shortName, widthOf, range, unitFor, seriesStyle, partColour, valueAxis, linearAxis,
        isGeometric, axisTitle, categoryLabels, shades,
    };
})();
