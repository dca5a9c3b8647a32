// Opens pages of reports, or pictures, in headless Chromium and tells, as JSON on standard output, which texts of figures are cut by
// the edge of their picture, and which lie over each other: pages at widths of 1400 and 420 pixels, light and dark.
//   node geometry.js CHROMIUM PROFILE_FOLDER [--pictures FOLDER] URL...
'use strict';

const {writeFileSync} = require('node:fs');
const {join} = require('node:path');
const {withBrowser} = require('./browser.js');

const [chromium, profile, ...rest] = process.argv.slice(2);
const folder = rest[0] === '--pictures' ? rest.splice(0, 2)[1] : null;

/** Runs in the page. Texts are the rectangles they fill, as they are turned. */
function look() {
    const ROOM = 1.5;  // of a line's box there is more than its letters
    const cornersOf = (text) => {
        const {x, y, width, height} = text.getBBox();
        const matrix = text.getScreenCTM();
        const inner = Math.min(ROOM, width / 4, height / 4);
        return [[x + inner, y + inner], [x + width - inner, y + inner], [x + width - inner, y + height - inner], [x + inner, y + height - inner]]
            .map(([a, b]) => [matrix.a * a + matrix.c * b + matrix.e, matrix.b * a + matrix.d * b + matrix.f]);
    };
    // Two rectangles are apart where a line along one of their sides parts them.
    const areApart = (one, other) => [one, other].some((corners) => [0, 1].some((side) => {
        const axis = [corners[side + 1][0] - corners[side][0], corners[side + 1][1] - corners[side][1]];
        const along = (points) => points.map(([x, y]) => x * axis[0] + y * axis[1]);
        const [a, b] = [along(one), along(other)];
        return Math.max(...a) <= Math.min(...b) || Math.max(...b) <= Math.min(...a);
    }));
    const problems = [];
    let count = 0;
    const pictures = document.documentElement.tagName === 'svg' ? [document.documentElement] : [...document.querySelectorAll('.chart svg')];
    for (const svg of pictures) {
        const figure = svg.closest('.chart')?.id || '';
        const frame = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].filter((text) => text.textContent.trim() !== '')
            .map((text) => ({text: text.textContent, corners: cornersOf(text)}));
        count += texts.length;
        for (const {text, corners} of texts) {
            if (corners.some(([x, y]) => x < frame.left - 0.5 || x > frame.right + 0.5 || y < frame.top - 0.5 || y > frame.bottom + 0.5)) {
                problems.push({figure, kind: 'cut', texts: [text]});
            }
        }
        for (let i = 0; i < texts.length; ++i) {
            for (let j = 0; j < i; ++j) {
                if (!areApart(texts[i].corners, texts[j].corners)) problems.push({figure, kind: 'overlap', texts: [texts[j].text, texts[i].text]});
            }
        }
    }
    return {problems, pictures: pictures.length, texts: count};
}

/** Runs in the page: whether it is as wide as its window, and drawn. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 400));

withBrowser(chromium, profile, async (browser) => {
    const seen = {pictures: 0, texts: 0, problems: []};
    for (const url of rest) {
        const views = url.endsWith('.svg') ? [[1000, 'light']] : [1400, 420].flatMap((width) => ['light', 'dark'].map((scheme) => [width, scheme]));
        for (const [width, scheme] of views) {
            await browser.scheme(scheme);
            await browser.size(width, 900);
            await browser.open(url);
            await browser.run(settle);
            const {problems, pictures, texts} = await browser.run(look);
            seen.pictures += pictures;
            seen.texts += texts;
            const name = url.split('/').slice(-3).join('/');
            seen.problems.push(...problems.map((problem) => ({page: name, width, scheme, ...problem})));
            if (folder) {
                const file = `${name.replace(/\/?(report|index\.html)/g, '').replace(/[/.]/g, '-')}-${width}-${scheme}.png`;
                writeFileSync(join(folder, file), await browser.picture(true));
            }
        }
    }
    seen.errors = browser.errors;
    process.stdout.write(JSON.stringify(seen));
});
