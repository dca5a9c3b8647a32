// What a page carries, unpacked: the library of charts, which runs then, and the data of the report. Nothing is fetched, and
// nothing waits: a page is whole when it has loaded.
'use strict';

const astrolabeUnpack = (() => {
    /** Bytes of a raw DEFLATE stream (RFC 1951). O(bytes), canonical codes by their lengths. */
    function inflate(input) {
        let output = new Uint8Array(Math.max(1024, input.length * 4));
        let size = 0;
        let at = 0;
        let buffer = 0;
        let held = 0;

        function byte() {
            if (at >= input.length) throw new Error('packed data end early');
            return input[at++];
        }

        function bits(count) {
            while (held < count) {
                buffer |= byte() << held;
                held += 8;
            }
            const value = buffer & ((1 << count) - 1);
            buffer >>>= count;
            held -= count;
            return value;
        }

        /** How many codes there are of each length, and their symbols in the order of the codes. */
        function codesOf(lengths) {
            const counts = new Uint16Array(16);
            for (const length of lengths) counts[length] += 1;
            counts[0] = 0;
            const next = new Uint16Array(16);
            for (let length = 1; length < 15; ++length) next[length + 1] = next[length] + counts[length];
            const symbols = new Uint16Array(lengths.length);
            lengths.forEach((length, symbol) => {
                if (length > 0) symbols[next[length]++] = symbol;
            });
            return {counts, symbols};
        }

        function symbol({counts, symbols}) {
            let code = 0;
            let first = 0;
            let place = 0;
            for (let length = 1; length < 16; ++length) {
                if (held === 0) {
                    buffer = byte();
                    held = 8;
                }
                code |= buffer & 1;
                buffer >>>= 1;
                held -= 1;
                const count = counts[length];
                if (code - first < count) return symbols[place + code - first];
                place += count;
                first = (first + count) << 1;
                code <<= 1;
            }
            throw new Error('packed data are damaged');
        }

        function grow(more) {
            if (size + more <= output.length) return;
            const larger = new Uint8Array(Math.max(size + more, output.length * 2));
            larger.set(output.subarray(0, size));
            output = larger;
        }

        const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
        const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
        const DISTANCES = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
            8193, 12289, 16385, 24577];
        const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

        function fixedCodes() {
            const lengths = Array.from({length: 288}, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8));
            return [codesOf(lengths), codesOf(new Array(30).fill(5))];
        }

        function dynamicCodes() {
            const literals = bits(5) + 257;
            const distances = bits(5) + 1;
            const count = bits(4) + 4;
            const orders = new Array(19).fill(0);
            for (let i = 0; i < count; ++i) orders[ORDER[i]] = bits(3);
            const codes = codesOf(orders);
            const lengths = [];
            while (lengths.length < literals + distances) {
                const code = symbol(codes);
                if (code < 16) {
                    lengths.push(code);
                    continue;
                }
                const value = code === 16 ? lengths[lengths.length - 1] : 0;
                const repeats = code === 16 ? 3 + bits(2) : code === 17 ? 3 + bits(3) : 11 + bits(7);
                for (let i = 0; i < repeats; ++i) lengths.push(value);
            }
            return [codesOf(lengths.slice(0, literals)), codesOf(lengths.slice(literals))];
        }

        for (let isLast = false; !isLast;) {
            isLast = bits(1) === 1;
            const kind = bits(2);
            if (kind === 0) {
                buffer = held = 0;
                const length = input[at] | (input[at + 1] << 8);
                grow(length);
                output.set(input.subarray(at + 4, at + 4 + length), size);
                at += 4 + length;
                size += length;
                continue;
            }
            const [literals, distances] = kind === 1 ? fixedCodes() : dynamicCodes();
            for (;;) {
                const code = symbol(literals);
                if (code === 256) break;
                if (code < 256) {
                    grow(1);
                    output[size++] = code;
                    continue;
                }
                const length = LENGTHS[code - 257] + bits(LENGTH_BITS[code - 257]);
                const far = symbol(distances);
                const from = size - DISTANCES[far] - bits(far < 2 ? 0 : (far >> 1) - 1);
                grow(length);
                for (let i = 0; i < length; ++i) output[size + i] = output[from + i];
                size += length;
            }
        }
        return output.subarray(0, size);
    }

    const textOf = (packed) => new TextDecoder().decode(inflate(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0))));
    const valueOf = (packed) => JSON.parse(textOf(packed));

    function rowsOf(packed) {
        const {values, count} = valueOf(packed);
        const columns = values.map(({all, distinct, at}) => all || at.map((place) => distinct[place]));
        return Array.from({length: count}, (_, i) => columns.map((column) => column[i]));
    }

    /** Computed when it is first asked for. */
    function lazily(object, name, compute) {
        Object.defineProperty(object, name, {configurable: true, enumerable: true, get() {
            const value = compute();
            Object.defineProperty(object, name, {value, enumerable: true, writable: true});
            return value;
        }});
    }

    /**
     * The report, as C++ wrote it. Rows of figures and points are unpacked when they are first asked for. And
     * `report.run(place)` is what is known of a run, `figure.rowsOf(frame)` the rows of one picture, each null where the
     * page had no room for it.
     */
    function read(carried) {
        if (carried.form !== 'packed') {
            const {report, files} = carried;
            report.left = {runs: 0, frames: {}};
            report.run = (place) => report.runs[place];
            for (const figure of report.figures) figure.rowsOf = (frame) => (frame ? figure.rows.filter((row) => row[0] === frame.point) : figure.rows);
            return {report, files};
        }
        const {files, ...report} = valueOf(carried.head);
        const {blocks, block} = carried;
        report.points = {columns: []};
        const points = blocks.points;
        report.points.columns = valueOf(points).columns;
        lazily(report.points, 'rows', () => rowsOf(points));
        const runs = new Map();
        report.run = (place) => {
            const number = Math.floor(place / block);
            const name = `runs ${number}`;
            if (!(name in blocks)) return null;
            if (!runs.has(number)) runs.set(number, valueOf(blocks[name]));
            return runs.get(number)[place % block];
        };
        for (const figure of report.figures) {
            const whole = `figure ${figure.name}`;
            if (whole in blocks) {
                lazily(figure, 'rows', () => rowsOf(blocks[whole]));
                figure.rowsOf = () => figure.rows;
                continue;
            }
            const frames = new Map();
            figure.rowsOf = (frame) => {
                const name = `frame ${figure.name} ${frame.point}`;
                if (!(name in blocks)) return null;
                if (!frames.has(frame.point)) frames.set(frame.point, rowsOf(blocks[name]));
                return frames.get(frame.point);
            };
            lazily(figure, 'rows', () => figure.chart.frames.flatMap((frame) => figure.rowsOf(frame) || []));
        }
        return {report, files};
    }

    /** Runs a script that the page carries; its policy has the script's hash. */
    function run(packed) {
        const script = document.createElement('script');
        script.textContent = textOf(packed);
        document.head.append(script);
        script.remove();
    }

    return {inflate, textOf, read, run};
})();
