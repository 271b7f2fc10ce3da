#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';

// The repository runs the sources directly. The published package contains only the build.
const source = new URL('../main.ts', import.meta.url);
const built = new URL('../dist/test/conformance/main.js', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const { main } = await import(existsSync(source) ? source.href : built.href);
await main(version);
