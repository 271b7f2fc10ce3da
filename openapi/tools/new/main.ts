import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SpecProblems } from '../problem.ts';
import { readContract } from './existing-contract.ts';
import { CannotCreate, validate } from './new-operation.ts';
import { registrations } from './registrations.ts';
import { newFiles } from './templates.ts';

const usage = `npm run new -- operation <operationId> --method get --path /v1/songs --area music [--summary "One sentence."]

Creates an operation: its path file, its schemas, a failing handler and a failing contract test, and registers them.

  operationId  a verb and a noun, such as listSongs
  --method     get, post, patch or delete
  --path       parameters in braces must exist in openapi/parameters
  --area       the tag and folder of the operation
  --summary    default: To be written.
  --parameters files of openapi/parameters, such as TokenId, for parameters that several files describe`;

try {
  run();
} catch (error) {
  const isMistake =
    error instanceof CannotCreate ||
    error instanceof SpecProblems ||
    (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  console.error(isMistake === true ? (error as Error).message : error);
  process.exitCode = 1;
}

function run(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      method: { type: 'string' },
      path: { type: 'string' },
      area: { type: 'string' },
      summary: { type: 'string' },
      parameters: { type: 'string' },
      help: { type: 'boolean', default: false },
      root: { type: 'string' },
    },
  });
  const { help, root: named, ...flags } = values;
  if (help) return console.log(usage);
  const [kind, id, ...others] = positionals;
  if (kind !== 'operation' || others.length > 0)
    throw new CannotCreate(`the first argument must be operation, followed by an operationId\n\n${usage}`);
  const root = named ?? fileURLToPath(new URL('../../..', import.meta.url));
  const contract = readContract(root);
  const operation = validate(root, { ...flags, id }, contract);
  const created = newFiles(operation);
  const existing = [...created.keys()].filter((file) => existsSync(join(root, file)));
  if (existing.length > 0)
    throw new CannotCreate(`${existing.join(' and ')} already exists; nothing was written`);
  const changed = registrations(root, operation, contract);
  for (const [file, text] of [...created, ...changed]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text, { flag: created.has(file) ? 'wx' : 'w' });
  }
  for (const file of created.keys()) console.log(`created ${file}`);
  for (const file of changed.keys()) console.log(`changed ${file}`);
  console.log(`
Run npm run generate, or npm run dev. Then write, in this order: the path file and its schemas,
test/contract/${operation.area}/${operation.id}.test.ts, the handler, and the client's method with its rows in client/README.md and
test/client/operations.test.ts. Add your own limits to test/spec/decisions/.`);
}
