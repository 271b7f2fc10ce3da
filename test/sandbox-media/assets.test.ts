import { describe, expect, test } from 'vitest';
import { imageFiles, mp3, padded, png, video, wav } from './media-files.ts';
import { expectSchema, taskDurationMs, useFileHost, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream();
const host = useFileHost();
const overseas = 'zeta-delta-2-0-fast-260128';

interface Upload {
  code: number;
  message: string;
  data: { Id: string };
}

interface Answer {
  data: {
    Id: string;
    AssetType: string;
    Status: string;
    Name: string;
    GroupId: string;
    URL?: string;
    Error?: { Code: string; Message: string };
    CreateTime: string;
    UpdateTime: string;
  };
}

interface ErrorBody {
  error: { code: string; message: string; request_id: string };
}

async function upload(asset: object, query = ''): Promise<string> {
  const { status, body } = await client.send<Upload>('POST', `/api/assets/upload${query}`, asset);
  expect(status, JSON.stringify(body)).toBe(200);
  expectSchema('AssetUploadReply', body);
  expect(body.data.Id).toMatch(/^asset-\d{14}-[a-z0-9]{5}$/);
  return body.data.Id;
}

async function look(id: string, query = ''): Promise<Answer['data']> {
  const { status, body } = await client.send<Answer>('GET', `/api/assets/${id}${query}`);
  expect(status).toBe(200);
  expectSchema('AssetReply', body);
  return body.data;
}

/** Returns the asset after its validation. */
async function checked(id: string, query = ''): Promise<Answer['data']> {
  client.advance(taskDurationMs);
  await client.until<Answer>(`/api/assets/${id}${query}`, ({ data }) => data.Status !== 'Processing');
  return await look(id, query);
}

const uploadImage = (name: string, bytes: Uint8Array) =>
  upload({ url: host.put(name, bytes), asset_type: 'Image' });

describe('asset', () => {
  test('is processed, then active, and can be downloaded', async () => {
    const file = png(400, 300);
    const id = await upload({ url: host.put('cat.png', file), asset_type: 'image', name: 'cat' });
    expect(await look(id)).toEqual({
      Id: id,
      AssetType: 'Image',
      Status: 'Processing',
      Name: 'cat',
      GroupId: expect.stringMatching(/^group-\d{14}-[a-z0-9]{5}$/),
      ProjectName: 'default',
      CreateTime: '2026-03-01T12:00:00Z',
      UpdateTime: '2026-03-01T12:00:00Z',
    });
    const active = await checked(id);
    expect(active).toMatchObject({ Status: 'Active', UpdateTime: '2026-03-01T12:00:10Z' });
    const { bytes, type } = await client.download(active.URL ?? '');
    expect(Buffer.compare(bytes, file)).toBe(0);
    expect(type).toBe('image/png');
    expect((await look(id)).URL).toBe(active.URL);
    client.advance(12 * 60 * 60 * 1000);
    expect((await fetch(active.URL ?? '')).status).toBe(403);
    const renewed = (await look(id)).URL;
    expect(renewed).not.toBe(active.URL);
    expect((await fetch(renewed ?? '')).status).toBe(200);
  });

  test.each(Object.keys(imageFiles) as (keyof typeof imageFiles)[])('can be %s', async (format) => {
    expect(await checked(await uploadImage(`a.${format}`, imageFiles[format](300, 400)))).toMatchObject({
      Status: 'Active',
    });
  });

  test.each([
    ['480p MP4 of 2 seconds', () => video({ seconds: 2 })],
    ['720p MOV with sound', () => video({ width: 1280, height: 720, container: 'mov', audio: true })],
    ['portrait 720p', () => video({ width: 720, height: 1280, frameRate: 60 })],
    ['480p of 15 seconds', () => video({ width: 640, height: 480, seconds: 15 })],
    ['square of the area of 720p', () => video({ width: 960, height: 960 })],
    ['50 MB', async () => padded(await video(), 50 * 1024 * 1024)],
  ])('can be a video: %s', async (name, make) => {
    const id = await upload({ url: host.put(name.replaceAll(' ', '-'), await make()), asset_type: 'Video' });
    expect(await checked(id)).toMatchObject({ AssetType: 'Video', Status: 'Active' });
  });

  test.each([
    ['WAV of 2 seconds', () => wav(2)],
    ['WAV of 15 seconds', () => wav(15)],
    ['MP3', () => mp3(5)],
  ])('can be audio: %s', async (name, make) => {
    const id = await upload({ url: host.put(name.replaceAll(' ', '-'), await make()), asset_type: 'AUDIO' });
    expect(await checked(id)).toMatchObject({ AssetType: 'Audio', Status: 'Active' });
  });
});

describe('asset fails', () => {
  const megabyte = 1024 * 1024;
  test.each<[string, 'Image' | 'Video' | 'Audio', () => Uint8Array | Promise<Uint8Array>, string]>([
    ['an image with a side of 299', 'Image', () => png(299, 400), 'SideLength'],
    ['an image with a side of 6001', 'Image', () => imageFiles.heic(6001, 3000), 'SideLength'],
    ['an image of 2.51 to 1', 'Image', () => imageFiles.webp(1004, 400), 'AspectRatio'],
    ['an image of 0.39 to 1', 'Image', () => imageFiles.webp(390, 1000), 'AspectRatio'],
    ['an image of 30 MB', 'Image', () => Buffer.concat([png(300, 300), Buffer.alloc(30 * megabyte)]), 'Size'],
    ['text as an image', 'Image', () => Buffer.from('<html>This is a page, not an image</html>'), 'Format'],
    [
      'an SVG',
      'Image',
      () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"/>'),
      'Format',
    ],
    ['a damaged PNG', 'Image', () => png(400, 400).subarray(0, 50), 'Format'],
    ['an empty file', 'Image', () => new Uint8Array(), 'Format'],
    ['a video as an image', 'Image', () => video(), 'Format'],
    ['a video of 1.9 seconds', 'Video', () => video({ seconds: 1.9 }), 'Duration'],
    ['a video of 15.2 seconds', 'Video', () => video({ seconds: 15.2 }), 'Duration'],
    ['a video of 23 frames per second', 'Video', () => video({ frameRate: 23 }), 'FrameRate'],
    ['a video of 61 frames per second', 'Video', () => video({ frameRate: 61 }), 'FrameRate'],
    ['a 1080p video', 'Video', () => video({ width: 1920, height: 1080 }), 'Resolution'],
    ['a 540p video', 'Video', () => video({ width: 960, height: 540 }), 'Resolution'],
    ['a 360p video', 'Video', () => video({ width: 640, height: 360 }), 'Resolution'],
    ['a video with a side of 298', 'Video', () => video({ width: 480, height: 298 }), 'SideLength'],
    ['a video of 2.6 to 1', 'Video', () => video({ width: 1248, height: 480 }), 'AspectRatio'],
    ['a video of more than 50 MB', 'Video', async () => padded(await video(), 50 * megabyte + 1), 'Size'],
    ['an image as a video', 'Video', () => png(400, 400), 'Format'],
    ['a cut video', 'Video', async () => (await video()).subarray(0, 400), 'Format'],
    ['audio of 1.9 seconds', 'Audio', () => wav(1.9), 'Duration'],
    ['audio of 15.2 seconds', 'Audio', () => mp3(15.2), 'Duration'],
    ['audio of more than 15 MB', 'Audio', () => wav(5, 1_600_000), 'Size'],
    ['a video as audio', 'Audio', () => video({ audio: true }), 'Format'],
  ])('as %s', async (name, type, make, aspect) => {
    const id = await upload({ url: host.put(name.replaceAll(' ', '-'), await make()), asset_type: type });
    const failed = await checked(id);
    expect(failed).toMatchObject({
      Status: 'Failed',
      Error: { Code: `InvalidParameter.${aspect}`, Message: expect.any(String) },
    });
    expect(failed).not.toHaveProperty('URL');
  });

  test('when the URL does not exist', async () => {
    const id = await upload({ url: host.address('nothing'), asset_type: 'Image' });
    expect((await checked(id)).Error?.Code).toBe('InvalidURL');
  });

  test.each([
    ['[[sensitive]]', 'InputImageSensitiveContentDetected'],
    ['[[fail-late]]', 'FaceMismatch'],
  ])('by %s', async (name, code) => {
    const id = await upload({ url: host.put('ok.png', png(300, 300)), asset_type: 'Image', name });
    expect((await checked(id)).Error?.Code).toBe(code);
  });
});

describe('reference', () => {
  const path = '/api/v3/contents/generations/tasks';
  const create = (asset: string, change: object = {}) =>
    client.send<{ id: string; error?: { code: string } }>('POST', path, {
      model: 'epsilon-delta-2-0-260128',
      content: [{ type: 'image_url', image_url: { url: `asset://${asset}` }, role: 'first_frame' }],
      ...change,
    });

  test('is accepted only if the asset is active', async () => {
    const id = await uploadImage('ref.png', png(400, 300));
    expect((await create(id)).status).toBe(400);
    await checked(id);
    const { status, body } = await create(id);
    expect(status).toBe(200);
    client.advance(taskDurationMs);
    const done = await client.until<{ status: string; ratio: string }>(
      `${path}/${body.id}`,
      (task) => task.status !== 'running',
    );
    expect(done).toMatchObject({ status: 'succeeded', ratio: '400:300' });
    const failed = await uploadImage('bad.png', png(10, 10));
    await checked(failed);
    expect((await create(failed)).status).toBe(400);
  });

  test('is limited to its region', async () => {
    const query = `?model=${overseas}`;
    const id = await upload({ url: host.put('far.png', png(300, 300)), asset_type: 'Image' }, query);
    expect((await checked(id, query)).Status).toBe('Active');
    expect((await client.send('GET', `/api/assets/${id}`)).status).toBe(404);
    expect((await create(id)).status).toBe(400);
    expect((await create(id, { model: overseas })).status).toBe(200);
  });
});

describe('a bad request', () => {
  const url = 'https://files.example/a.png';
  test.each<[string, object]>([
    ['no URL', { asset_type: 'Image' }],
    ['a data URL', { url: 'data:image/png;base64,AAAA', asset_type: 'Image' }],
    ['no type', { url }],
    ['an unknown type', { url, asset_type: 'Text' }],
    ['a name that is not a string', { url, asset_type: 'Image', name: 5 }],
  ])('%s is rejected', async (_case, request) => {
    const { status, body } = await client.send<ErrorBody>('POST', '/api/assets/upload', request);
    expect(status).toBe(400);
    expect(body.error).toEqual({
      code: 'InvalidParameter',
      message: expect.any(String),
      request_id: expect.any(String),
    });
  });

  test('for an unknown asset or with an unsuitable model is rejected', async () => {
    expect((await client.send('GET', '/api/assets/asset-20260101000000-aaaaa')).status).toBe(404);
    expect((await client.send('GET', '/api/assets/x?model=epsilon-delta-2-0-260128')).status).toBe(400);
  });
});
