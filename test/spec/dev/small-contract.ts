import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const rules = fileURLToPath(new URL('../../../openapi/rules/plugin.ts', import.meta.url));

/** A contract of one operation and one event, with a line of code that uses it, in a folder of its own. */
export interface SmallContract {
  root: string;
  write(path: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

export const operation = (summary: string, id = 'getSong') => `
get:
  operationId: ${id}
  tags: [music]
  summary: ${summary}
  x-error-family: generic
  responses:
    '200': { description: The song., content: { application/json: { schema: { $ref: ../schemas/music/Song.yaml } } } }
`;

export const song = (type: string) => `
type: object
description: A song.
required: [title]
properties:
  title: { type: ${type}, description: What it is called. }
`;

const files: Readonly<Record<string, string>> = {
  'redocly.yaml': `
telemetry: "off"
plugins: [${rules}]
apis: { gateway: { root: ./openapi/openapi.yaml }, events: { root: ./asyncapi/asyncapi.yaml } }
rules: { no-unresolved-refs: error, unigate/operation-id-form: error, unigate/no-orphan-file: error }
`,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'NodeNext',
      target: 'ES2024',
      types: [],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
    },
    include: ['server', 'generated'],
  }),
  'openapi/models.yaml': `
families: { plain: { owner: alpha, since: 2026-11-21 } }
models: [{ id: alpha-1, family: plain, protocols: [multimodal], unit: characters }]
voice_sets: {}
`,
  'openapi/errors.yaml':
    '- { code: bad_thing, status: 400, families: [generic], when: It is bad., remedy: Mend it., retry: never }\n',
  'openapi/openapi.yaml': `
openapi: 3.1.0
info: { title: Small, version: 1.0.0, license: { name: MIT, identifier: MIT } }
tags: [{ name: music }]
security: []
paths:
  /song: { $ref: paths/song.yaml }
`,
  'openapi/paths/song.yaml': operation('A song.'),
  'openapi/schemas/music/Song.yaml': song('string'),
  'openapi/guides/1-start.md': '# Start\n\nBegin here.\n',
  'asyncapi/asyncapi.yaml': `
asyncapi: 3.0.0
info: { title: Small, version: 1.0.0 }
defaultContentType: application/json
channels: { songs: { address: /songs, messages: { sung: { $ref: '#/components/messages/sung' } } } }
operations: { sendSongs: { action: send, channel: { $ref: '#/channels/songs' } } }
components: { messages: { sung: { payload: { $ref: ../openapi/schemas/music/Song.yaml } } } }
`,
  'server/title.ts': `import type { components } from '../generated/http.ts';

export const title = (song: components['schemas']['Song']): string => song.title;
`,
};

export async function smallContract(): Promise<SmallContract> {
  const root = await mkdtemp(join(tmpdir(), 'small-contract-'));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  return { root, write, remove: () => rm(root, { recursive: true }) };
}
