#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';

// In the repository the sources run as they are; the published package has only what was built from them.
const source = new URL('../cli.ts', import.meta.url);
const built = new URL('../dist/client/cli.js', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const { main } = await import(existsSync(source) ? source.href : built.href);
await main(version);
