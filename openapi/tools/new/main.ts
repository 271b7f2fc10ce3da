import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SpecProblems } from '../problem.ts';
import { type Changes, definitions } from './definitions.ts';
import { readContract } from './existing-contract.ts';
import { CannotCreate, type Flags, validate } from './new-operation.ts';
import { registrations } from './registrations.ts';
import { newFiles } from './templates.ts';
import { undo, write } from './write.ts';

const usage = `npm run new -- operation <operationId> --method get --path /v1/songs --area music [--summary "One sentence."]
npm run new -- schema <Name> --area music
npm run new -- event <Name> --channel realtime --type session.paused [--action send]
npm run new -- error <code> --families generic [--status 400] [--retry never]
npm run new -- model <id> --family alpha3
npm run new -- --undo

Creates an operation (its path file, its schemas, a failing handler and a failing contract test), a schema, an event of a
socket, an error code or a model, and registers it. --undo deletes what the last run added, unless it was edited.

  operationId  a verb and a noun, such as listSongs
  --method     get, post, patch or delete
  --path       parameters in braces must exist in openapi/parameters
  --area       the tag and folder of the operation, or the folder of the schema
  --summary    default: To be written.
  --parameters files of openapi/parameters, such as TokenId, for parameters that several files describe
  --action     send for a server event (default), receive for a client event
  --families   where the error code occurs, separated by commas
  --family     the new model gets the properties of the last model of this family`;

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
      channel: { type: 'string' },
      action: { type: 'string' },
      type: { type: 'string' },
      status: { type: 'string' },
      families: { type: 'string' },
      retry: { type: 'string' },
      family: { type: 'string' },
      undo: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      root: { type: 'string' },
    },
  });
  const { help, undo: isUndo, root: named, ...flags } = values;
  if (help) return console.log(usage);
  const root = named ?? fileURLToPath(new URL('../../..', import.meta.url));
  if (isUndo) {
    if (positionals.length > 0)
      throw new CannotCreate('--undo accepts no other arguments: it undoes the last run');
    const { deleted, restored } = undo(root);
    for (const file of deleted) console.log(`deleted ${file}`);
    for (const file of restored) console.log(`restored ${file}`);
    return console.log('\nRun npm run generate.');
  }
  const [kind = '', name = '', ...others] = positionals;
  const define = definitions[kind];
  const isKnown = kind === 'operation' || define !== undefined;
  if (!isKnown || others.length > 0) {
    const kinds = ['operation', ...Object.keys(definitions)].join(', ');
    throw new CannotCreate(`the first argument must be one of ${kinds}, followed by one name\n\n${usage}`);
  }
  const { created, changed, next } =
    define === undefined ? newOperation(root, { ...flags, id: name }) : define(root, name, flags);
  write(root, { created, changed });
  for (const file of created.keys()) console.log(`created ${file}`);
  for (const file of changed.keys()) console.log(`changed ${file}`);
  console.log(`\n${next}`);
}

function newOperation(root: string, flags: Flags): Changes {
  const contract = readContract(root);
  const operation = validate(root, flags, contract);
  const created = newFiles(operation);
  const changed = registrations(root, operation, contract);
  const client = [...changed.keys()].find((file) => /^client\/.*\.ts$/.test(file)) ?? '';
  const toWrite = [
    ...created.keys(),
    `${client}: the method ${operation.id}`,
    'openapi/guides/: a line in a guide',
  ];
  return {
    created,
    changed,
    next: `Run npm run generate, or npm run dev. Then write, in this order:
${toWrite.map((file) => `  ${file}`).join('\n')}
All other files are complete. Your own limits need entries in test/spec/decisions/, as a second copy of the contract.`,
  };
}
