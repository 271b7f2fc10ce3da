#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';

const source = new URL('../conformance/main.ts', import.meta.url);
const built = new URL('../dist/client/conformance/main.js', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
try {
  const { main } = await import(existsSync(source) ? source.href : built.href);
  await main(version);
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/'(ajv|ajv-formats|fast-check)'/.test(error.message))
    throw error;
  const names = 'ajv@8 ajv-formats@3 fast-check@4';
  console.error(`unigate-conformance: its optional dependencies are missing: npm install ${names}`);
  process.exitCode = 2;
}
