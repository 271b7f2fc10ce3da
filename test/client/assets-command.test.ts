import { describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const id = 'asset-20260301120000-k3v9q';
const facts = { Id: id, AssetType: 'Image', Name: 'cat', CreateTime: '2026-03-01T12:00:00Z' };
const active = { ...facts, Status: 'Active', URL: 'https://files.example/cat.png?signature=9f2c' };

/** Serves one asset that goes through the states in order. The last state repeats. */
async function startAssetServer(states: (object | 'denied')[] = [active]) {
  const calls: string[] = [];
  const bodies: unknown[] = [];
  const remaining = [...states];
  const url = await startStubServer(async (request, response) => {
    calls.push(`${request.method} ${request.url}`);
    const text = Buffer.concat(await request.toArray()).toString();
    if (request.method === 'POST') bodies.push(JSON.parse(text));
    const state =
      request.method === 'POST' ? { Id: id } : remaining.length > 1 ? remaining.shift() : remaining[0];
    const body = state === 'denied' ? { error: { code: 'no', message: 'Gone.' } } : { code: 0, data: state };
    response.writeHead(state === 'denied' ? 403 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  return { calls, bodies, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

test.each([
  [['assets'], 'A command is missing. Commands: upload, show.'],
  [['assets', 'upload'], "Missing required argument 'url'."],
  [['assets', 'upload', 'cat.png'], 'URL must be a URL; a local file is not accepted.'],
  [
    ['assets', 'upload', 'https://f.example/cat'],
    '--type is required (image, video or audio), because the URL has no known extension.',
  ],
  [['assets', 'show'], "Missing required argument 'asset'."],
  [['assets', 'show', id, '--name', 'n'], "Unknown option '--name'."],
])('rejects the command line %j', async (args, message) => {
  const { calls, env } = await startAssetServer();
  const { code, stderr } = await runCommand(args, { env });
  expect({ code, stderr, calls }).toEqual({ code: 2, stderr: expect.stringContaining(message), calls: [] });
});

describe('upload', () => {
  test.each([
    ['https://files.example/a/cat.PNG?size=1', [], { asset_type: 'Image' }],
    ['https://files.example/walk.mp4', ['--name', 'walk'], { asset_type: 'Video', name: 'walk' }],
    ['https://files.example/song.mp3', [], { asset_type: 'Audio' }],
    ['https://files.example/x', ['--type', 'video'], { asset_type: 'video' }],
  ])('of %s %j', async (url, more, expected) => {
    const { bodies, env } = await startAssetServer();
    const { code, stdout, stderr } = await runCommand(['assets', 'upload', url, ...more], { env });
    expect(bodies).toEqual([{ url, ...expected }]);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: `asset://${id}\n`,
      stderr: `asset ${id}\n`,
    });
  });

  test('waits until the asset is active, for the named model', async () => {
    const { calls, env } = await startAssetServer([{ ...facts, Status: 'Processing' }, active]);
    const args = ['assets', 'upload', 'https://files.example/cat.png', '--model', 'zeta'];
    expect(await runCommand(args, { env })).toMatchObject({ code: 0 });
    expect(calls).toEqual([
      'POST /api/assets/upload?model=zeta',
      `GET /api/assets/${id}?model=zeta`,
      `GET /api/assets/${id}?model=zeta`,
    ]);
  });

  test('fails with the reason when the asset is rejected', async () => {
    const failed = { ...facts, Status: 'Failed', Error: { Code: 'FaceMismatch', Message: 'No.' } };
    const { env } = await startAssetServer([failed]);
    const { code, stdout, stderr } = await runCommand(['assets', 'upload', 'https://f.example/a.png'], {
      env,
    });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `asset ${id}\nunigate: FaceMismatch: No. [${id}]\n`,
    });
  });

  test('prints the command to check again when the wait fails', async () => {
    const { env } = await startAssetServer(['denied']);
    const { code, stderr } = await runCommand(['assets', 'upload', 'https://f.example/a.png'], { env });
    const again = `Check it with: npx unigate assets show ${id}`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: `asset ${id}\nunigate: no (403): Gone. ${again}\n` });
  });
});

describe('show', () => {
  test.each([id, `asset://${id}`])('%s', async (name) => {
    const { calls, env } = await startAssetServer();
    const { code, stdout } = await runCommand(['assets', 'show', name], { env });
    expect(code).toBe(0);
    expect(calls).toEqual([`GET /api/assets/${id}`]);
    expect(stdout.toString().split('\n')).toEqual([
      `id       ${id}`,
      'type     Image',
      'status   Active',
      'name     cat',
      'created  2026-03-01T12:00:00Z',
      'url      https://files.example/cat.png?signature=9f2c',
      '',
    ]);
  });

  test('prints the error of a failed asset, or JSON', async () => {
    const failed = { ...facts, Status: 'Failed', Error: { Code: 'FaceMismatch', Message: 'No.' } };
    const { env } = await startAssetServer([failed]);
    expect((await runCommand(['assets', 'show', id], { env })).stdout.toString()).toMatch(
      /^error +FaceMismatch: No\.$/m,
    );
    const { stdout } = await runCommand(['assets', 'show', id, '--json'], { env });
    expect(JSON.parse(stdout.toString())).toEqual(failed);
  });
});
