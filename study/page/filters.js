// Which points are shown: of every parameter all values, or those that were selected. Figures follow by what their rows say
// of the parameters.
'use strict';

const astrolabeFilters = (() => {
    /** Texts as people order them: amounts with units by what they come to, as `dimensions` of the report have them. */
    function orderOf(report, {name, values}) {
        const dimension = report.dimensions.find((one) => one.name === name);
        const places = [...values.keys()];
        if (dimension) {
            const order = new Map(dimension.values.map((value, i) => [value, i]));
            return places.sort((a, b) => order.get(values[a]) - order.get(values[b]));
        }
        return places.sort((a, b) => values[a].localeCompare(values[b], 'en', {numeric: true}));
    }

    class Filters {
        /** `status` by point: it can be selected like a parameter. */
        constructor(report, status) {
            this.report = report;
            this.count = status.length;
            const statuses = [...new Set(status)];
            const all = statuses.length > 1
                ? [...report.parameters, {name: 'status', values: statuses, at: status.map((one) => statuses.indexOf(one))}]
                : report.parameters;
            // By place: a derived value may be called "status", too.
            this.parameters = all.filter((one) => one.values.length > 1)
                .map((one) => Object.assign({selected: new Set(), order: orderOf(report, one)}, one));
            this.listeners = [];
            this.groups = new Map();
            this.numbers = null;
            this.update();
        }

        /** Calls `listener` whenever other points are shown. */
        onFilter(listener) { this.listeners.push(listener); }

        get isActive() { return this.parameters.some((one) => one.selected.size > 0); }
        isVisible(place) { return this.visible[place] === 1; }

        /** Places of values; none: all. */
        select(parameter, places) {
            parameter.selected = new Set(places);
            this.change();
        }

        reset() {
            for (const one of this.parameters) one.selected.clear();
            this.change();
        }

        change() {
            this.update();
            for (const listener of this.listeners) listener();
        }

        update() {
            this.visible = new Uint8Array(this.count).fill(1);
            for (const {selected, at} of this.parameters) {
                if (selected.size === 0) continue;
                for (let i = 0; i < this.count; ++i) this.visible[i] &= selected.has(at[i]) ? 1 : 0;
            }
            this.shown = this.visible.reduce((sum, one) => sum + one, 0);
        }

        /** Rows of a figure and points, by what both say of the dimensions that are columns of the figure. */
        groupsOf(figure) {
            if (!this.groups.has(figure.name)) {
                const names = new Set(this.report.dimensions.map((one) => one.name));
                const columns = [...figure.columns.keys()].filter((place) => names.has(figure.columns[place]));
                const parameters = columns.map((place) => this.report.parameters.find((one) => one.name === figure.columns[place]));
                const places = parameters.map((one) => new Map(one.values.map((value, i) => [value, i])));
                const keys = new Map();
                const groupOf = (key) => {
                    if (!keys.has(key)) keys.set(key, keys.size);
                    return keys.get(key);
                };
                const ofRows = figure.rows.map((row) => groupOf(columns.map((place, i) => places[i].get(row[place])).join(' ')));
                const ofPoints = Array.from({length: this.count}, (_, i) => groupOf(parameters.map((one) => one.at[i]).join(' ')));
                this.groups.set(figure.name, {ofRows, ofPoints, size: keys.size});
            }
            return this.groups.get(figure.name);
        }

        /** The figure with the rows of points that are shown; `numbers` are those of the points. */
        figureOf(figure, frame, numbers) {
            const {name, title, note, chart, columns} = figure;
            const shown = {name, title, note, chart, columns};
            if (frame) return Object.assign(shown, {rows: figure.rowsOf(frame) || []});
            if (!this.isActive) return Object.assign(shown, {rows: figure.rows});
            if (chart.frames) {
                const wanted = new Set(numbers.filter((_, i) => this.isVisible(i)));
                return Object.assign(shown, {
                    rows: figure.rows.filter((row) => wanted.has(row[0])),
                    chart: Object.assign({}, chart, {frames: chart.frames.filter((one) => wanted.has(one.point))}),
                });
            }
            const {ofRows, ofPoints, size} = this.groupsOf(figure);
            const isShown = new Uint8Array(size);
            for (let i = 0; i < this.count; ++i) isShown[ofPoints[i]] |= this.visible[i];
            return Object.assign(shown, {rows: figure.rows.filter((_, i) => isShown[ofRows[i]] === 1)});
        }

        /** What was selected, by name, for a page that is loaded again. */
        get state() {
            return this.parameters.filter((one) => one.selected.size > 0)
                .map((one) => [one.name, [...one.selected].map((place) => one.values[place])]);
        }

        set state(state) {
            for (const [name, values] of state) {
                const parameter = this.parameters.find((one) => one.name === name);
                if (parameter) parameter.selected = new Set(values.map((value) => parameter.values.indexOf(value)).filter((place) => place >= 0));
            }
            this.change();
        }
    }

    const MOST_CHIPS = 16;

    function element(tag, properties, ...children) {
        const made = Object.assign(document.createElement(tag), properties);
        made.append(...children);
        return made;
    }

    /** A button for each value. */
    function chips(filters, parameter) {
        const buttons = parameter.order.map((place) => {
            const button = element('button', {type: 'button', className: 'chip', textContent: astrolabeSheet.shorten(parameter.values[place] || '(none)', 40)});
            button.addEventListener('click', () => {
                const selected = new Set(parameter.selected);
                if (!selected.delete(place)) selected.add(place);
                filters.select(parameter, selected.size === parameter.values.length ? [] : selected);
            });
            return [place, button];
        });
        const show = () => buttons.forEach(([place, button]) => button.setAttribute('aria-pressed', String(parameter.selected.has(place))));
        return {box: element('div', {className: 'chips'}, ...buttons.map(([, button]) => button)), show};
    }

    /** From one of many values to another. */
    function span(filters, parameter) {
        const {order, values} = parameter;
        const made = ['from', 'to'].map((word) => element('select', {ariaLabel: `${parameter.name}, ${word}`},
            ...order.map((place, i) => element('option', {value: String(i), textContent: astrolabeSheet.shorten(values[place] || '(none)', 40)}))));
        const [from, to] = made;
        const change = () => {
            const first = Math.min(Number(from.value), Number(to.value));
            const last = Math.max(Number(from.value), Number(to.value));
            filters.select(parameter, first === 0 && last === order.length - 1 ? [] : order.slice(first, last + 1));
        };
        made.forEach((one) => one.addEventListener('change', change));
        const show = () => {
            const places = order.map((place, i) => [place, i]).filter(([place]) => parameter.selected.has(place)).map(([, i]) => i);
            from.value = String(places.length > 0 ? places[0] : 0);
            to.value = String(places.length > 0 ? places[places.length - 1] : order.length - 1);
        };
        return {box: element('div', {className: 'span'}, from, ' to ', to), show};
    }

    /** Controls for all parameters, into `place`. */
    function controls(filters, place) {
        const made = filters.parameters.map((parameter) => {
            const {box, show} = (parameter.values.length <= MOST_CHIPS ? chips : span)(filters, parameter);
            place.append(element('fieldset', {}, element('legend', {textContent: astrolabeSheet.shorten(parameter.name, 60)}), box));
            return show;
        });
        const show = () => made.forEach((one) => one());
        filters.onFilter(show);
        show();
    }

    return {Filters, controls};
})();
