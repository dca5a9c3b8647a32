// Opens a page in headless Chromium and tells, as JSON on standard output, what happened: errors on the console, what
// the page asked for, and what each chart has in it.
//   node open.js CHROMIUM PROFILE_FOLDER URL [light|dark [PICTURE.png]]
'use strict';

const {writeFileSync} = require('node:fs');
const {withBrowser} = require('./browser.js');

const [chromium, profile, url, scheme = 'light', picture] = process.argv.slice(2);

/** Runs in the page. */
function look() {
    const charts = [...document.querySelectorAll('.chart')].map((box) => {
        const svg = box.querySelector('svg');
        const canvas = box.querySelector('canvas');
        const marks = svg ? [...svg.querySelectorAll('path, rect, circle')].filter((shape) => {
            const {width, height} = shape.getBoundingClientRect();
            const fill = shape.getAttribute('fill');
            return width + height > 0 && fill && fill !== 'none' && fill !== 'transparent';
        }).length : 0;
        let inked = 0;
        if (canvas) {
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            for (let i = 3; i < data.length; i += 4) inked += data[i] > 0 ? 1 : 0;
        }
        const labels = svg ? [...svg.querySelectorAll('text')].map((text) => text.textContent) : [];
        return {id: box.id, marks, inked, labels, height: box.clientHeight};
    });
    return {
        charts, title: document.title, heading: document.querySelector('h1')?.textContent,
        pictures: [...document.images].map((image) => [image.getAttribute('src'), image.naturalWidth]),
        scripts: document.querySelectorAll('script').length, images: document.querySelectorAll('img, iframe, object, link').length,
        rows: document.querySelectorAll('#points tbody tr').length, text: document.body.innerText,
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth, hacked: typeof window.hacked !== 'undefined',
    };
}

withBrowser(chromium, profile, async (browser) => {
    await browser.scheme(scheme);
    await browser.size(1200, 900);
    await browser.open(url);
    const page = await browser.run(look);
    if (picture) writeFileSync(picture, await browser.picture(true));
    process.stdout.write(JSON.stringify({requests: browser.requests, errors: browser.errors, page}));
});
