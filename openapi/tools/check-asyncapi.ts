import { fileURLToPath } from 'node:url';
import { Parser } from '@asyncapi/parser';
import { openSpecs } from './specs.ts';

/** Validates the AsyncAPI document with the parser of the AsyncAPI project. */
const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const { diagnostics } = await new Parser().parse(
  JSON.stringify(await (await openSpecs(root)).bundle('events')),
);
const serious = diagnostics.filter(({ severity }) => severity <= 1);
for (const { message, path, code } of serious)
  console.error(`asyncapi.yaml ${path.join('/')} ${code}: ${message}`);
if (serious.length > 0) process.exitCode = 1;
