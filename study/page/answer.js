// The section that opens a report: who wins where, in words, as a map and as tables. The words come from the program
// (study/src/report/answer.cpp); here they are laid out.
'use strict';

const astrolabeAnswer = (() => {
    const {amount, shorten, labelOf} = astrolabeSheet;

    function element(tag, properties, ...children) {
        const made = Object.assign(document.createElement(tag), properties);
        made.append(...children);
        return made;
    }

    const number = (text) => element('td', {className: 'number', textContent: text});
    const word = (text) => element('td', {textContent: text});
    const head = (names) => element('thead', {}, element('tr', {}, ...names.map((name) => element('th', {scope: 'col', textContent: name}))));
    const inBox = (label, table) => element('div', {className: 'wide', tabIndex: 0, role: 'region', ariaLabel: label}, table);
    const dollars = (value) => (value === null ? '–' : `$${Math.round(value).toLocaleString('en')}`);
    const nameOf = (report, name) => labelOf(report.dimensions.find((one) => one.name === name) || {name});
    const where = (report, at) => Object.entries(at).map(([name, value]) => `${nameOf(report, name)} ${shorten(value, 40)}`).join(', ');

    function list(texts) {
        return element('ul', {}, ...texts.map((text) => element('li', {textContent: shorten(text, 1200)})));
    }

    function budgetControl(answer, fill) {
        const select = element('select', {id: 'budget'}, ...answer.verdicts.map((verdict, place) => element('option', {
            value: String(place),
            textContent: verdict.at_most_usd_per_host === null ? 'whatever the network costs' : `at most ${dollars(verdict.at_most_usd_per_host)} a host`,
        })));
        select.addEventListener('change', () => fill(answer.verdicts[Number(select.value)]));
        return element('p', {}, element('label', {htmlFor: 'budget', textContent: 'Budget: '}), select);
    }

    function crossoverTable(report, crossovers) {
        const rows = crossovers.map((one) => element('tr', {},
            word(nameOf(report, one.parameter)), word(where(report, one.at) || 'all else as it is'),
            word(`${shorten(one.below, 24)} → ${shorten(one.above, 24)}`),
            number(one.estimate === null ? '–' : String(Number(one.estimate.toPrecision(3)))),
            word(shorten(one.winner_below, 40)), number(astrolabeWinner.longer(one.margin_below)),
            word(shorten(one.winner_above, 40)), number(astrolabeWinner.longer(one.margin_above))));
        return inBox('crossovers', element('table', {className: 'crossovers'},
            head(['parameter', 'at', 'between', 'estimate', 'below wins', 'by', 'above wins', 'by']), element('tbody', {}, ...rows)));
    }

    function settingsTable(report, verdict, openPoint) {
        const {answer} = report;
        const names = answer.circumstances;
        const rows = verdict.settings.flatMap((setting) => setting.contenders.map((contender, place) => {
            const open = element('button', {type: 'button', className: 'link', textContent: `point ${contender.point}`});
            open.addEventListener('click', () => openPoint(contender.point));
            return element('tr', {className: place === 0 ? 'winner' : ''},
                ...names.map((name) => word(place === 0 ? shorten(setting.at[name], 40) : '')),
                word(shorten(contender.name, 60) + (Object.keys(contender.with).length > 0 ? ` (${shorten(Object.values(contender.with).join(', '), 60)})` : '')),
                number(amount(contender.iteration_time_s, 's')),
                number(place === 0 ? '' : `+${astrolabeWinner.longer(contender.iteration_time_s / setting.contenders[0].iteration_time_s - 1)}`.replace(/^\+(.*×)$/, '$1')),
                number(dollars(contender.usd_per_host)),
                word(contender.bound === null ? '–' : `${contender.bound.part}, ${(100 * contender.bound.share).toFixed(0)} %`),
                element('td', {}, open));
        }));
        return inBox('all settings', element('table', {className: 'settings'},
            head([...names.map((name) => nameOf(report, name)), nameOf(report, answer.contested), 'an iteration', 'longer', '$ a host', 'bound by', 'run']),
            element('tbody', {}, ...rows)));
    }

    /**
     * Fills the section. `pictureOf(figure, box, made)` gives what draws a figure; `openPoint` opens the run of a point.
     */
    function show(report, section, pictureOf, openPoint) {
        const {answer, winner} = report;
        if (!answer) {
            section.remove();
            return;
        }
        const words = element('div', {id: 'answer-words', ariaLive: 'polite'});
        const tables = element('div', {});
        section.append(element('h2', {id: 'answer-heading', textContent: 'The answer'}));
        section.setAttribute('aria-labelledby', 'answer-heading');
        if (answer.verdicts.length > 1) section.append(budgetControl(answer, fill));
        section.append(words);
        let picture = null;
        if (winner) {
            const box = element('div', {className: 'chart', id: 'chart-winner', role: 'img', ariaLabel: shorten(winner.title, 160)});
            const made = element('figure', {id: 'winner', ariaLabel: shorten(winner.title, 160)}, element('h3', {textContent: shorten(winner.title, 160)}),
                element('p', {className: 'note', textContent: winner.note}), box);
            box.setAttribute('aria-describedby', words.id);
            section.append(made);
            picture = pictureOf(winner, box, made);
            made.append(picture.nothing, element('div', {className: 'files'}, ...picture.links));
        }
        section.append(tables);

        function fill(verdict) {
            words.replaceChildren(element('p', {className: 'headline', textContent: shorten(verdict.headline, 1200)}));
            if (verdict.regions.length > 0) words.append(list(verdict.regions.map((region) => region.text)));
            if (picture) picture.redraw(Object.assign({}, winner, {chart: Object.assign({}, winner.chart, {budget: verdict.at_most_usd_per_host})}));
            tables.replaceChildren();
            if (verdict.would_change.length > 0) tables.append(element('h3', {textContent: 'What would change it'}), list(verdict.would_change));
            if (verdict.crossovers.length > 0) {
                tables.append(element('details', {open: verdict.crossovers.length <= 12},
                    element('summary', {textContent: `Where the winner changes: ${verdict.all_crossovers} crossovers`}), crossoverTable(report, verdict.crossovers)));
            }
            if (answer.contested) {
                tables.append(element('details', {}, element('summary', {textContent: `All ${verdict.all_settings} settings, contender by contender`}),
                    settingsTable(report, verdict, openPoint)));
            }
            const shown = verdict.settings.length + verdict.crossovers.length;
            if (shown < verdict.all_settings + verdict.all_crossovers) tables.append(element('p', {className: 'note', textContent: 'Of each table the first 100 rows; answer.json has all.'}));
            tables.append(element('h3', {textContent: 'What was not simulated, and how sure this is'}), list(answer.limits));
        }
        fill(answer.verdicts[0]);
    }

    return {show};
})();
