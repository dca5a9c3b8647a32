// Colours and symbols. A thing has one colour in all figures and studies: kinds of network theirs, saturated, for dots and
// lines; collectives and what time is made of theirs, lighter, for areas.
'use strict';

const astrolabeColours = (() => {
    // Kinds of network by their place among those the program has; Okabe and Ito, and Paul Tol (muted).
    const NETWORKS = ['#5F6B7A', '#0072B2', '#E69F00', '#882255', '#009E73', '#999933', '#44AA99', '#AA4499', '#661100', '#7B6FD0', '#332288',
        '#806000', '#B8860B', '#CC5FA0', '#D55E00', '#56B4E9', '#117733', '#A05A2C', '#4C9900', '#C0392B'];
    // Values of other parameters by their place in the study.
    const SERIES = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#8F8F8F', '#B8A400'];
    // Values that are numbers, from the least to the greatest: an end of viridis that is seen on light and dark.
    const RAMP = ['#46327E', '#365C8D', '#277F8E', '#1FA187', '#4AC16D', '#A0B92A'];
    const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'emptyCircle', 'emptyRect', 'emptyTriangle', 'emptyDiamond'];
    // Paul Tol, light, a little darker.
    const PARTS = new Map([
        ['compute', '#77AADD'], ['all_reduce', '#EE8866'], ['all_to_all', '#44BB99'], ['all_gather', '#DDC65F'],
        ['reduce_scatter', '#8FD0F0'], ['point_to_point', '#F29CAB'], ['broadcast', '#BBCC33'], ['reduce', '#AAAA00'],
        ['drain', '#BFC4CB'],
    ]);
    const OTHER = '#B49AD6';
    const VIRIDIS = ['#fde725', '#90d743', '#35b779', '#21918c', '#31688e', '#443983', '#440154'];

    /** Towards white (up to 1) or black (down to -1). */
    function mixed(colour, amount) {
        const part = (at) => {
            const value = parseInt(colour.slice(at, at + 2), 16);
            return Math.round(value + (amount > 0 ? 255 - value : value) * amount).toString(16).padStart(2, '0');
        };
        return `#${part(1)}${part(3)}${part(5)}`;
    }

    /** The n-th thing of one colour. */
    const SHADES = [0, 0.45, -0.4, 0.68, -0.2];
    const shade = (colour, n) => mixed(colour, SHADES[n % SHADES.length]);

    /** Between the colours of a ramp; `share` is from 0 to 1. */
    function ramp(share) {
        const at = share * (RAMP.length - 1);
        const low = Math.min(RAMP.length - 2, Math.floor(at));
        const part = (place) => {
            const [a, b] = [low, low + 1].map((i) => parseInt(RAMP[i].slice(place, place + 2), 16));
            return Math.round(a + (b - a) * (at - low)).toString(16).padStart(2, '0');
        };
        return `#${part(1)}${part(3)}${part(5)}`;
    }

    /**
     * Of a value of a dimension, by its place. Several networks of a kind have shades of its colour, and symbols of their own; numbers have
     * colours from dark to light.
     */
    function seriesStyle(index, dimension = null) {
        const kinds = dimension && dimension.kinds;
        if (kinds && kinds[index] !== null && kinds[index] !== undefined) {
            const nth = kinds.slice(0, index).filter((kind) => kind === kinds[index]).length;
            const colour = shade(NETWORKS[kinds[index] % NETWORKS.length], nth);
            return {colour, symbol: SYMBOLS[(kinds[index] + nth) % SYMBOLS.length]};
        }
        const count = dimension && dimension.numbers ? dimension.values.length : 0;
        if (count > 1) return {colour: ramp(index / (count - 1)), symbol: SYMBOLS[index % SYMBOLS.length]};
        return {colour: shade(SERIES[index % SERIES.length], Math.floor(index / SERIES.length)), symbol: SYMBOLS[index % SYMBOLS.length]};
    }

    function hashed(text) {
        let hash = 7;
        for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) % 65521;
        return hash;
    }

    /** "wait: layer 3.all_reduce" is of the kind all_reduce. */
    function kindOfPart(name) {
        const part = name.replace(/^wait: /, '');
        if (PARTS.has(part)) return part;
        return [...PARTS.keys()].filter((key) => part.endsWith(key)).sort((a, b) => b.length - a.length)[0] || null;
    }

    /**
     * Of parts of time or traffic, by name. A kind of collective has its colour whether it is waited for, sent or drawn in a timeline; single
     * operations of a kind have shades of it, which go by their names, the next one where a shade is taken.
     */
    function partColours(names) {
        const taken = new Set();
        const colours = new Map();
        for (const name of [...names].sort()) {
            const kind = kindOfPart(name);
            const base = kind ? PARTS.get(kind) : OTHER;
            let nth = kind === name.replace(/^wait: /, '') ? 0 : hashed(name) % SHADES.length;
            for (let i = 0; i < SHADES.length && taken.has(base + nth); ++i) nth = (nth + 1) % SHADES.length;
            taken.add(base + nth);
            colours.set(name, shade(base, nth));
        }
        return colours;
    }

    return {VIRIDIS, seriesStyle, partColours};
})();
