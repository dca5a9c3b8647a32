// The table of points. Of many rows those are in the document that can be seen, and some above and below them.
'use strict';

const astrolabeTable = (() => {
    const ROW_HEIGHT = 30;
    const MOST_WHOLE = 200;
    const MOST_PRINTED = 2000;
    const AROUND = 12;
    const WIDEST = 30;

    function element(tag, properties, ...children) {
        const made = Object.assign(document.createElement(tag), properties);
        made.append(...children);
        return made;
    }

    /** Numbers by size, texts as people order them, what is not there last. */
    function compare(a, b) {
        const isMissing = (value) => value === null || value === undefined || value === '';
        if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
        if (typeof a === 'number' && typeof b === 'number') return a - b;
        return String(a).localeCompare(String(b), 'en', {numeric: true});
    }

    class PointTable {
        /**
         * `columns` are {title, note, className, value(place), text(place)}; `rows` are {number(place), className(place)};
         * `open(place)` is called for a row that is clicked or entered.
         */
        constructor(box, columns, rows, open) {
            Object.assign(this, {box, columns, rows, open, places: [], order: [], sorted: null, current: 0, first: -1, isPrinted: false});
            this.body = element('tbody', {});
            this.drawn = new Map();  // rows in the document, by their places in the order
            const pad = () => element('tr', {className: 'pad', ariaHidden: 'true'}, element('td', {colSpan: columns.length}));
            this.above = pad();
            this.below = pad();
            this.headings = columns.map((column, i) => {
                const button = element('button', {type: 'button', textContent: column.title, title: column.note});
                button.addEventListener('click', () => this.sort(i));
                return element('th', {scope: 'col', className: column.className}, button);
            });
            this.table = element('table', {}, element('caption', {className: 'unseen', textContent:
                'Points of the study. Headings sort; arrow keys move from row to row, Enter opens a point.'}),
            element('colgroup', {}, ...columns.map((column) => element('col', {style: `width: ${this.widthOf(column)}px`}))),
            element('thead', {}, element('tr', {}, ...this.headings)), this.body);
            this.table.style.width = `${columns.reduce((sum, column) => sum + this.widthOf(column), 0)}px`;
            box.append(this.table);
            box.addEventListener('scroll', () => this.later(), {passive: true});
            this.body.addEventListener('click', (event) => this.clicked(event));
            this.body.addEventListener('keydown', (event) => this.pressed(event));
            this.body.addEventListener('focusin', (event) => {
                const row = event.target.closest('tr');
                if (row) this.current = Number(row.dataset.at);
            });
        }

        widthOf(column) {
            const word = Math.max(...column.title.split(/[\s\u200b]/).map((one) => one.length));
            return 24 + 7.6 * Math.min(WIDEST, Math.max(column.longest, word + 2));
        }

        /** Shows these places of points, in the order that was chosen. */
        show(places) {
            this.places = places;
            this.arrange();
        }

        sort(column) {
            const [was, isDescending] = this.sorted || [null, false];
            this.sorted = was !== column ? [column, false] : isDescending ? null : [column, true];
            this.arrange();
        }

        arrange() {
            this.order = [...this.places];
            if (this.sorted) {
                const [column, isDescending] = this.sorted;
                const values = new Map(this.order.map((place) => [place, this.columns[column].value(place)]));
                const sign = isDescending ? -1 : 1;
                this.order.sort((a, b) => {
                    const by = compare(values.get(a), values.get(b));
                    const isMissing = [a, b].some((place) => values.get(place) === null || values.get(place) === '');
                    return (isMissing ? by : sign * by) || a - b;
                });
            }
            this.headings.forEach((heading, i) => {
                const isSorted = this.sorted && this.sorted[0] === i;
                if (isSorted) heading.setAttribute('aria-sort', this.sorted[1] ? 'descending' : 'ascending');
                else heading.removeAttribute('aria-sort');
            });
            this.table.setAttribute('aria-rowcount', String(this.order.length + 1));
            this.current = Math.min(this.current, Math.max(0, this.order.length - 1));
            this.first = -1;
            this.draw();
        }

        /** Once in a frame. */
        later() {
            if (this.isWaiting) return;
            this.isWaiting = true;
            requestAnimationFrame(() => {
                this.isWaiting = false;
                this.draw();
            });
        }

        get isWhole() { return this.order.length <= (this.isPrinted ? MOST_PRINTED : MOST_WHOLE); }

        draw() {
            this.box.classList.toggle('tall', !this.isWhole);
            const count = this.order.length;
            const seen = Math.ceil((this.box.clientHeight || 600) / ROW_HEIGHT);
            const top = Math.floor(this.box.scrollTop / ROW_HEIGHT);
            const first = this.isWhole ? 0 : Math.max(0, Math.min(top - AROUND, count - seen));
            const last = this.isWhole ? count : Math.min(count, top + seen + AROUND);
            const isNew = this.first < 0;
            const moved = Math.max(Math.abs(first - this.first), Math.abs(last - this.last));
            if (!isNew && (moved === 0 || (moved < AROUND / 2 && first > 0 && last < count))) return;
            const focused = this.body.contains(document.activeElement);
            if (isNew) this.drawn.clear();
            for (const [at, row] of this.drawn) {
                if (at >= first && at < last) continue;
                row.remove();
                this.drawn.delete(at);
            }
            // Rows that stay are where they were: others go before or after them.
            const rows = [];
            for (let at = first; at < last; ++at) {
                if (!this.drawn.has(at)) this.drawn.set(at, this.row(this.order[at], at));
                rows.push(this.drawn.get(at));
            }
            this.above.firstChild.style.height = `${first * ROW_HEIGHT}px`;
            this.below.firstChild.style.height = `${(count - last) * ROW_HEIGHT}px`;
            if (isNew) {
                this.body.replaceChildren(...(this.isWhole ? rows : [this.above, ...rows, this.below]));
            } else {
                let before = this.above;
                for (const row of rows) {
                    if (before.nextSibling !== row) before.after(row);
                    before = row;
                }
            }
            this.first = first;
            this.last = last;
            if (focused && !this.body.contains(document.activeElement)) this.linkAt(this.current)?.focus({preventScroll: true});
        }

        row(place, at) {
            const number = this.rows.number(place);
            const cells = this.columns.map((column, i) => {
                const text = column.text(place);
                if (i > 0) return element('td', {className: column.className, textContent: text, title: text.length > WIDEST ? text : ''});
                return element('th', {scope: 'row', className: column.className},
                    element('a', {href: `#point-${number}`, textContent: text, tabIndex: at === this.current ? 0 : -1, ariaLabel: `open point ${number}`}));
            });
            const row = element('tr', {className: this.rows.className(place)}, ...cells);
            row.dataset.at = String(at);
            row.setAttribute('aria-rowindex', String(at + 2));
            return row;
        }

        linkAt(at) { return this.body.querySelector(`tr[data-at="${at}"] a`); }

        clicked(event) {
            const row = event.target.closest('tr[data-at]');
            if (!row || event.ctrlKey || event.metaKey || event.shiftKey || String(getSelection()) !== '') return;
            event.preventDefault();
            this.moveTo(Number(row.dataset.at));
            this.open(this.order[this.current]);
        }

        pressed(event) {
            const page = Math.max(1, Math.floor(this.box.clientHeight / ROW_HEIGHT) - 2);
            const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
            if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
            event.preventDefault();
            this.moveTo(Math.max(0, Math.min(this.order.length - 1, this.current + steps[event.key])));
        }

        /** Makes a row the current one, in sight and with the focus. */
        moveTo(at) {
            this.linkAt(this.current)?.setAttribute('tabindex', '-1');
            this.current = at;
            if (!this.isWhole) {
                const above = at * ROW_HEIGHT;
                const room = this.box.clientHeight - 2 * ROW_HEIGHT;
                if (above < this.box.scrollTop) this.box.scrollTop = above;
                else if (above > this.box.scrollTop + room) this.box.scrollTop = above - room;
                this.draw();
            }
            const link = this.linkAt(at);
            link?.setAttribute('tabindex', '0');
            link?.focus({preventScroll: !this.isWhole});
        }

        /** All rows, for paper; or those in sight again. */
        print(isPrinted) {
            this.isPrinted = isPrinted;
            this.first = -1;
            this.draw();
        }

        get state() { return {sorted: this.sorted, top: this.box.scrollTop, left: this.box.scrollLeft, current: this.current}; }

        set state({sorted, top, left, current}) {
            this.sorted = sorted && sorted[0] < this.columns.length ? sorted : null;
            this.current = current;
            this.arrange();
            this.box.scrollTop = top;
            this.box.scrollLeft = left;
            this.draw();
        }
    }

    return {PointTable};
})();
