// SPDX-License-Identifier: Apache-2.0
// Compiles the addon: `node build.js`, or `npm install`. Needs a C compiler, the headers of Node (they come with it, or in
// Debian's libnode-dev; NODE_INCLUDE names another directory) and the library, which pkg-config finds.
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const places = [process.env.NODE_INCLUDE, path.join(process.execPath, '../../include/node'), '/usr/include/node',
  '/usr/include/nodejs/src'];
const include = places.find((place) => place && fs.existsSync(path.join(place, 'node_api.h')));
if (!include) {
  console.error('node_api.h is not found: install the headers of Node, or set NODE_INCLUDE to their directory');
  process.exit(1);
}
const target = path.join(process.env.DEVICEPOOL_NODE_BUILD || path.join(__dirname, 'build'));
let flags = process.env.DEVICEPOOL_FLAGS;
try {
  flags ||= execFileSync(process.env.PKG_CONFIG || 'pkg-config', ['--cflags', '--libs', 'devicepool'],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
} catch {
  console.error('pkg-config does not find devicepool: install the library, or set PKG_CONFIG_PATH to the directory of devicepool.pc');
  process.exit(1);
}
fs.mkdirSync(target, { recursive: true });
execFileSync(process.env.CC || 'cc', ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-shared', '-fPIC', `-I${include}`,
  path.join(__dirname, 'addon.c'), path.join(__dirname, 'raw.c'), '-o', path.join(target, 'devicepool.node'),
  ...flags.trim().split(/\s+/)], { stdio: 'inherit' });
