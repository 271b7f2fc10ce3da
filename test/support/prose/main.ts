import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readExceptions, withoutExceptions } from './exceptions.ts';
import { type Finding, lintText } from './lint.ts';

/**
 * `npm run lint:prose [-- FILE …]` checks words and sentence starts in Markdown, in the texts of the specs and in the
 * comments of the code. Without files it checks all of them. Exits with 1 on a finding.
 */
const root = fileURLToPath(new URL('../../..', import.meta.url));

const patterns = [
  '*.{md,ts}',
  'openapi/**/*.{md,ts,js,yaml}',
  'asyncapi/**/*.{ts,yaml}',
  '{client,server,test}/**/*.{md,ts,tsx,js}',
];
const excluded = ['**/node_modules/**', 'client/dist/**', 'test/conformance/dist/**'];

const exceptions = readExceptions();
const named = process.argv.slice(2);
const files =
  named.length > 0
    ? named
    : globSync(patterns, { cwd: root, exclude: excluded })
        .map((file) => file.replaceAll('\\', '/'))
        .sort();

const found: Finding[] = [];
for (const file of files) found.push(...(await lintText(file, readFileSync(join(root, file), 'utf8'))));
const { findings, unused } = withoutExceptions(found, exceptions);

for (const { file, line, column, message, excerpt } of findings)
  console.log(`${file}:${line}:${column}  ${message}\n    ${excerpt}`);
const stale = named.length > 0 ? [] : unused;
for (const { file, text } of stale)
  console.log(`exceptions.yaml: no finding in ${file} needs the exception for "${text}".`);
console.log(`${files.length} files, ${findings.length} findings`);
if (findings.length + stale.length > 0) process.exitCode = 1;
