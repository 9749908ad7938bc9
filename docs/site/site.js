/* SPDX-License-Identifier: Apache-2.0 */
/* Copy buttons, and the search over search-index.js. Without scripts all pages can be read. */
'use strict';

const root = document.documentElement.dataset.root;

/* ---- copy buttons ---- */

for (const block of [...document.querySelectorAll('main pre > code')].map((code) => code.parentNode)) {
  const frame = document.createElement('div');
  const button = document.createElement('button');
  frame.className = 'code';
  button.type = 'button';
  button.textContent = 'Copy';
  block.replaceWith(frame);
  frame.append(block, button);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(block); /* a page from a file may lack the clipboard */
      button.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
}

/* ---- search ---- */

const input = document.getElementById('search');
const list = document.getElementById('results');
const MOST = 30;
let index = null;
let selected = -1;

input.form.hidden = false;
input.form.addEventListener('submit', (event) => event.preventDefault());

function loadIndex() {
  if (index)
    return;
  index = [];
  const script = document.createElement('script');
  script.src = root + 'search-index.js';
  script.onload = () => {
    index = window.searchIndex.map((row) => ({ row, text: `${row[0]} ${row[1]} ${row[2]}`.toLowerCase(),
      name: (row[3] === 'page' ? `${row[0]} ${row[2]}` : row[0]).toLowerCase() }));
    show();
  };
  document.head.append(script);
}

const WEIGHT = { page: 8, section: 5, function: 6, struct: 6, handle: 6, enum: 5, callback: 4, header: 6, type: 3,
  constant: 3, term: 4, member: 0, file: 1 };

/* How well an entry answers the words; negative: not at all. */
function scoreOf(entry, words, whole) {
  let score = WEIGHT[entry.row[3]] || 0;
  for (const word of words) {
    const at = entry.name.indexOf(word);
    if (at < 0 && !entry.text.includes(word))
      return -1;
    if (at === 0)
      score += 12;
    else if (at > 0)
      score += /[\W_]/.test(entry.name[at - 1]) ? 8 : 4;
  }
  if (entry.name === whole)
    score += 60;
  return score - entry.name.length / 20;
}

function find(query) {
  const whole = query.trim().toLowerCase();
  const words = whole.split(/\s+/).filter(Boolean);
  if (!words.length)
    return [];
  return index.map((entry) => ({ entry, score: scoreOf(entry, words, whole) }))
    .filter((one) => one.score >= 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map((one) => one.entry.row);
}

function show() {
  const rows = find(input.value);
  const isOpen = input.value.trim() !== '';
  list.replaceChildren();
  for (const [number, [name, where, url, kind]] of rows.entries()) {
    const item = document.createElement('li');
    const link = document.createElement('a');
    const note = document.createElement('small');
    item.id = `result${number}`;
    item.setAttribute('role', 'option');
    link.href = root + url;
    link.tabIndex = -1;
    link.textContent = name;
    note.textContent = [kind, where === name ? '' : where].filter(Boolean).join(' · ');
    link.append(note);
    item.append(link);
    list.append(item);
  }
  if (isOpen && !rows.length) {
    const item = document.createElement('li');
    item.className = 'none';
    item.setAttribute('role', 'option');
    item.setAttribute('aria-disabled', 'true');
    item.textContent = 'Nothing is found';
    list.append(item);
  }
  list.hidden = !isOpen;
  input.setAttribute('aria-expanded', String(isOpen));
  select(rows.length ? 0 : -1);
}

function select(number) {
  const links = list.querySelectorAll('li > a');
  selected = links.length ? (number + links.length) % links.length : -1;
  links.forEach((link, i) => link.parentNode.setAttribute('aria-selected', String(i === selected)));
  if (selected < 0) {
    input.removeAttribute('aria-activedescendant');
    return;
  }
  input.setAttribute('aria-activedescendant', `result${selected}`);
  links[selected].scrollIntoView({ block: 'nearest' });
}

function close() {
  list.hidden = true;
  input.setAttribute('aria-expanded', 'false');
}

input.addEventListener('focus', loadIndex);
input.addEventListener('input', () => { loadIndex(); show(); });
input.addEventListener('keydown', (event) => {
  const links = list.querySelectorAll('li > a');
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    select(selected + (event.key === 'ArrowDown' ? 1 : -1));
  } else if (event.key === 'Enter' && links[selected]) {
    links[selected].click();
    close();
  } else if (event.key === 'Escape') {
    close();
  }
});
document.addEventListener('click', (event) => {
  if (!input.form.contains(event.target) || event.target.closest('#results a'))
    close();
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    input.focus();
  }
});
