/* SPDX-License-Identifier: Apache-2.0 */
/* Draws snapshot.json every second: what devicepool top shows on a terminal. Names come from the service, so they are only
 * ever set as text. */
'use strict';

const PERIOD = 1000; /* milliseconds between two snapshots */
const get = (id) => document.getElementById(id);
let before = null;

/* ---- values of a snapshot ---- */

const samplesOf = (root, name) => (root.metrics.find((family) => family.name === name) || { samples: null }).samples;
const isOf = (sample, device) => device === undefined || (sample.labels || {}).device === device;
const valueOf = (root, name, device) => (samplesOf(root, name) || [])
  .filter((sample) => isOf(sample, device)).reduce((sum, sample) => sum + Number(sample.value), 0);

/* Per second, since the snapshot before; 0 without one. */
function rateOf(now, name, device) {
  const seconds = before ? now.monotonic_seconds - before.monotonic_seconds : 0;
  const rise = seconds > 0 ? valueOf(now, name, device) - valueOf(before, name, device) : 0;
  return rise > 0 ? rise / seconds : 0;
}

/* ---- texts, as on the terminal ---- */

function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; value >= 1024 && unit + 1 < units.length; unit++)
    value /= 1024;
  return `${value.toFixed(unit ? 1 : 0)} ${units[unit]}`;
}

function amount(value) {
  const units = ['', ' k', ' M', ' G', ' T'];
  let unit = 0;
  for (; value >= 1000 && unit + 1 < units.length; unit++)
    value /= 1000;
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0) + units[unit];
}

function age(seconds) {
  const whole = Math.floor(seconds), two = (number) => String(number).padStart(2, '0');
  if (seconds < 60)
    return `${seconds.toFixed(1)} s`;
  if (seconds < 3600)
    return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${two(Math.floor(whole / 60) % 60)}m`;
}

/* ---- elements ---- */

function element(tag, text, name) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name)
    made.className = name;
  return made;
}

function show(id, text) {
  get(id).hidden = !text;
  get(id).textContent = text;
}

/* The part of memory in use; a drawing, as the server allows no styles in elements. */
function bar(used, total) {
  const space = 'http://www.w3.org/2000/svg', part = total > 0 ? Math.min(1, used / total) : 0;
  const made = element('div', '', 'bar'), drawing = document.createElementNS(space, 'svg');
  const filled = document.createElementNS(space, 'rect');
  made.setAttribute('role', 'meter');
  made.setAttribute('aria-label', 'memory in use');
  made.setAttribute('aria-valuemin', '0');
  made.setAttribute('aria-valuemax', String(total));
  made.setAttribute('aria-valuenow', String(used));
  made.setAttribute('aria-valuetext', `${bytes(used)} of ${bytes(total)}`);
  drawing.setAttribute('viewBox', '0 0 100 1');
  drawing.setAttribute('preserveAspectRatio', 'none');
  filled.setAttribute('width', String(100 * part));
  filled.setAttribute('height', '1');
  drawing.append(filled);
  made.append(drawing);
  return made;
}

/* ---- devices ---- */

function deviceCard(now, info) {
  const { device, name = '', pci = '', partition = '' } = info.labels;
  const gpu = info.labels.gpu || device; /* whose samples are those of the memory: of a part the first one */
  const current = (samplesOf(now, 'devicepool_device_state') || [])
    .find((sample) => isOf(sample, device) && sample.value === 1);
  const state = current ? current.labels.state : '?';
  const reason = (now.reasons || []).find((entry) => String(entry.device) === device);
  const of = (metric) => valueOf(now, metric, gpu);
  const used = of('devicepool_memory_used_bytes'), total = of('devicepool_device_memory_total_bytes');
  const number = (metric) => valueOf(now, metric, device).toFixed(0);
  const rate = (metric) => rateOf(now, metric, device);
  const card = document.createElement('article'), title = document.createElement('h2'), list = document.createElement('dl');
  const rows = [
    ['memory', `${bytes(used)} of ${bytes(total)}, ${bytes(of('devicepool_memory_lease_reserved_bytes'))} reserved`],
    ['work', `${number('devicepool_calls')} calls, ${number('devicepool_busy_streams')} streams, ` +
      `${number('devicepool_unfinished_work')} unfinished; ${of('devicepool_resident_objects').toFixed(0)} resident; ` +
      `${bytes(of('devicepool_memory_held_bytes'))} held`],
    ['rate', `${amount(rate('devicepool_operations_total'))} calls/s, ${amount(rate('devicepool_operation_items_total'))} items/s, ` +
      `${amount(rate('devicepool_launches_total'))} launches/s, ${bytes(rate('devicepool_copied_bytes_total'))}/s copied`],
  ];
  title.append(`${device} `, element('span', [name, pci, partition && `part ${partition}`].filter(Boolean).join(' '), 'name'), ' ',
    element('span', state, state === 'ready' ? '' : 'bad'));
  card.append(title);
  if (reason)
    card.append(element('p', reason.reason, 'bad'));
  card.append(bar(used, total));
  for (const [term, text] of rows)
    list.append(element('dt', term), element('dd', text));
  card.append(list);
  return card;
}

/* ---- leases and requests ---- */

function showList(id, entries, omitted, cells) {
  const section = get(id);
  section.hidden = !entries || !entries.length;
  section.querySelector('tbody').replaceChildren(...(entries || []).map((entry) => {
    const row = document.createElement('tr');
    cells(entry).forEach(([text, name]) => row.append(element('td', text, name)));
    return row;
  }));
  section.querySelector('.more').textContent = omitted ? `and ${omitted} more` : '';
}

const leaseCells = (lease) => [[lease.label || ''], [lease.devices.join(', ')],
  [bytes(lease.bytes * lease.devices.length), 'number'], [bytes(lease.used_bytes), 'number'],
  [age(lease.held_seconds), 'number'], [lease.is_overdue ? 'overdue' : '', lease.is_overdue ? 'bad' : '']];

const requestCells = (request) => [[request.label || ''], [String(request.device_count), 'number'],
  [bytes(request.bytes), 'number'], [String(request.priority), 'number'], [age(request.waited_seconds), 'number'],
  [request.is_head ? 'next' : '']];

/* ---- the whole ---- */

function draw(now) {
  const value = (name) => valueOf(now, name).toFixed(0);
  show('pool', `${now.socket}, process ${now.pid}, devices ${value('devicepool_usable_devices')} of ` +
    `${value('devicepool_devices')} usable`);
  show('fault', now.health && now.health.first_cause ? `fault: ${now.health.first_cause}` : '');
  show('counts', samplesOf(now, 'devicepool_leases') ? `leases ${value('devicepool_leases')} held, ` +
    `${value('devicepool_leases_overdue')} overdue, ${value('devicepool_lease_requests_waiting')} requests waiting, ` +
    `${amount(rateOf(now, 'devicepool_leases_granted_total'))} granted/s` : '');
  get('devices').replaceChildren(...(samplesOf(now, 'devicepool_device_info') || []).map((info) => deviceCard(now, info)));
  showList('leases', now.leases, now.leases_omitted, leaseCells);
  showList('requests', now.requests, now.requests_omitted, requestCells);
}

async function update() {
  try {
    const answer = await fetch('snapshot.json', { cache: 'no-store' });
    const now = await answer.json();
    if (now.metrics) {
      if (before && (before.pid !== now.pid || before.monotonic_seconds > now.monotonic_seconds))
        before = null; /* another process */
      draw(now);
      if (!before || before.monotonic_seconds < now.monotonic_seconds)
        before = now;
      show('error', '');
    } else {
      show('error', now.error);
    }
  } catch (error) {
    show('error', `devicepool top does not answer: ${error.message}`);
  }
}

async function run() {
  if (!document.hidden)
    await update();
  setTimeout(run, PERIOD);
}

run();
