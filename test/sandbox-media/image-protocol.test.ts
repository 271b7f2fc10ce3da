import { describe, expect, test } from 'vitest';
import { type ImageTask, useImageClient } from './image-client.ts';
import { dataUrl, imageFiles, png } from './media-files.ts';
import { taskDurationMs } from './task-client.ts';

const client = useImageClient();
const { upstream } = client;
const day = 24 * 60 * 60 * 1000;

const grid = (prompt = 'A boat') => client.ended(client.imagine(prompt));
const upscaled = async () => client.ended(client.press(await grid(), 'JOB::upsample::1'));
const send = (name: string, body: object) => upstream.send<unknown>('POST', `/imgjob/submit/${name}`, body);
const fetchPath = (id: string) => `/imgjob/task/${id}/fetch`;

describe('a task', () => {
  test('goes from SUBMITTED through increasing progress to SUCCESS', async () => {
    const { code, result, properties } = await client.imagine('A boat', { state: '{"mine": 1}' });
    expect([code, properties]).toEqual([1, {}]);
    const submitted = await client.fetchTask(result);
    expect(submitted).toMatchObject({
      id: result,
      action: 'IMAGINE',
      status: 'SUBMITTED',
      progress: '0%',
      prompt: 'A boat',
      state: '{"mine": 1}',
      submitTime: upstream.time,
      startTime: null,
      imageUrl: null,
      buttons: [],
    });
    const progressValues: number[] = [];
    for (let step = 0; step < 4; step++) {
      upstream.advance(taskDurationMs / 5);
      const { status, progress } = await client.fetchTask(result);
      expect(status).toBe('IN_PROGRESS');
      progressValues.push(Number(progress.replace('%', '')));
    }
    expect(progressValues).toEqual(progressValues.toSorted((first, second) => first - second));
    expect(new Set(progressValues).size).toBe(4);
    upstream.advance(taskDurationMs);
    const done = await upstream.until<ImageTask>(fetchPath(result), ({ status }) => status === 'SUCCESS');
    expect(done).toMatchObject({ progress: '100%', failReason: null, properties: { finalPrompt: 'A boat' } });
    expect(done.finishTime).toBeGreaterThan(done.startTime ?? Infinity);
    expect((await fetch(done.imageUrl ?? '')).status).toBe(200);
  });

  test('has the buttons of a grid, and then those of an image', async () => {
    const first = await grid();
    const names = ({ buttons }: ImageTask) =>
      buttons.map(({ customId }) => customId.replace(/[0-9a-f]{8}-[-0-9a-f]{27}/, '<hash>'));
    const numbers = [1, 2, 3, 4];
    expect(names(first)).toEqual([
      ...numbers.map((number) => `IJ::JOB::upsample::${number}::<hash>`),
      'IJ::JOB::reroll::0::<hash>::SOLO',
      ...numbers.map((number) => `IJ::JOB::variation::${number}::<hash>`),
    ]);
    const large = await client.ended(client.press(first, 'JOB::upsample::2', { state: 'mine' }));
    expect(large).toMatchObject({ action: 'UPSCALE', state: 'mine', prompt: 'A boat' });
    expect(names(large)).toEqual([
      ...['upsample_v6_2x_subtle', 'upsample_v6_2x_creative', 'low_variation', 'high_variation'].map(
        (name) => `IJ::JOB::${name}::1::<hash>::SOLO`,
      ),
      ...['Inpaint', 'Outpaint::50', 'Outpaint::75'].map((name) => `IJ::${name}::1::<hash>::SOLO`),
      'IJ::CustomZoom::<hash>',
      ...['left', 'right', 'up', 'down'].map((name) => `IJ::JOB::pan_${name}::1::<hash>::SOLO`),
    ]);
  });

  test('that is unknown or expired has an empty body', async () => {
    const { id } = await grid();
    upstream.advance(day);
    for (const lost of [id, 'no-such']) {
      const response = await fetch(upstream.url + fetchPath(lost));
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
  });

  test('is included in a query by ids', async () => {
    const [first, second] = [await grid('A boat'), await grid('A cat')];
    const list = (ids: unknown) => upstream.send('POST', '/imgjob/task/list-by-condition', { ids });
    const { body } = await list([second.id, 'no-such', first.id]);
    expect(body).toEqual([await client.fetchTask(second.id), await client.fetchTask(first.id)]);
    expect((await list([])).body).toEqual([]);
    for (const bad of [undefined, 'x', [1], Array.from({ length: 101 }, () => 'x')])
      expect((await list(bad)).status).toBe(400);
  });
});

describe('an action', () => {
  test('on an unknown task is code 3', async () => {
    const action = { taskId: 'no-such', customId: 'IJ::JOB::upsample::1::x' };
    expect(await client.submit('action', action)).toMatchObject({ code: 3, result: '' });
    expect(await client.submit('modal', { taskId: 'no-such', prompt: 'x' })).toMatchObject({ code: 3 });
  });

  test('before the task has succeeded is code 4', async () => {
    const { buttons } = await grid();
    const { result } = await client.imagine('A cat');
    const action = { taskId: result, customId: buttons[0]?.customId };
    expect(await client.submit('action', action)).toMatchObject({ code: 4, result: '' });
  });

  test('with a customId of another task is code 4', async () => {
    const [first, second] = [await grid(), await grid()];
    for (const customId of [second.buttons[0]?.customId, 'IJ::JOB::upsample::1::x', '']) {
      const reply = await client.submit('action', { taskId: first.id, customId });
      expect(reply).toMatchObject({ code: 4 });
      expect(reply.description).toContain('customId');
    }
  });
});

describe('a region is inpainted', () => {
  const white = dataUrl('image/png', png(128, 128, [255, 255, 255]));

  test('in two requests: the action waits for the modal request, which starts its task', async () => {
    const source = await upscaled();
    const waiting = await client.press(source, 'Inpaint', { state: 'first' });
    expect(waiting).toMatchObject({ code: 21, properties: { finalPrompt: 'A boat', remix: true } });
    upstream.advance(taskDurationMs * 2);
    const seen = await client.fetchTask(waiting.result);
    expect(seen).toMatchObject({ status: 'MODAL', action: 'INPAINT', state: 'first', progress: '0%' });
    const modal = { taskId: waiting.result, prompt: 'A cat', maskBase64: white };
    const accepted = await client.submit('modal', modal);
    expect(accepted).toMatchObject({ code: 1, result: waiting.result });
    expect(await client.submit('modal', modal)).toMatchObject({ code: 4 });
    const done = await client.ended(Promise.resolve(accepted));
    expect(done).toMatchObject({ status: 'SUCCESS', prompt: 'A cat', state: 'first' });
    expect(await client.submit('modal', modal)).toMatchObject({ code: 4 });
  });

  test('by one of two concurrent modal requests', async () => {
    const { result: taskId } = await client.press(await upscaled(), 'Inpaint');
    const modal = { taskId, prompt: 'A cat', maskBase64: white };
    const replies = await Promise.all([client.submit('modal', modal), client.submit('modal', modal)]);
    expect(replies.map(({ code }) => code).toSorted((first, second) => first - second)).toEqual([1, 4]);
  });

  test('only after the action', async () => {
    const task = await upscaled();
    const reply = await client.submit('modal', { taskId: task.id, prompt: 'A cat', maskBase64: white });
    expect(reply).toMatchObject({ code: 4, description: expect.stringContaining('wait') });
  });

  test('with the prompt of the source if the modal request has none', async () => {
    const { result: taskId } = await client.press(await upscaled(), 'Inpaint');
    const done = await client.ended(client.submit('modal', { taskId, maskBase64: white, state: 'later' }));
    expect(done).toMatchObject({ prompt: 'A boat', state: 'later' });
  });

  test('not after the task has waited for a day', async () => {
    const { result: taskId } = await client.press(await upscaled(), 'Inpaint');
    upstream.advance(day);
    expect(await client.submit('modal', { taskId, maskBase64: white })).toMatchObject({ code: 3 });
    expect(await client.fetchTask(taskId)).toBeUndefined();
  });
});

test('a custom zoom requires no mask, and accepts --zoom from 1 to 2', async () => {
  const { result: taskId, code } = await client.press(await upscaled(), 'CustomZoom');
  expect(code).toBe(21);
  for (const prompt of ['A boat --zoom 3', 'A boat --zoom 0.5'])
    expect(await client.submit('modal', { taskId, prompt })).toMatchObject({ code: 4 });
  const done = await client.ended(client.submit('modal', { taskId, prompt: 'A boat --zoom 1.5' }));
  expect(done).toMatchObject({ action: 'ZOOM', status: 'SUCCESS' });
});

describe('invalid parameters are code 4:', () => {
  const image = dataUrl('image/png', png(16, 16));
  test.each<[string, object, string]>([
    ['no prompt', {}, 'prompt'],
    ['a blank prompt', { prompt: ' \n' }, 'prompt'],
    ['a number as prompt', { prompt: 7 }, 'prompt'],
    ['a long prompt', { prompt: 'x'.repeat(6001) }, '6000'],
    ['a long state', { prompt: 'x', state: 'x'.repeat(10_001) }, '10000'],
    ['a wide aspect ratio', { prompt: 'x --ar 9:1' }, '--ar'],
    ['an aspect ratio with height 0', { prompt: 'x --ar 1:0' }, '--ar'],
    ['a huge seed', { prompt: 'x --seed 4294967296' }, '--seed'],
    ['a string instead of a list of images', { prompt: 'x', base64Array: image }, 'base64Array'],
    ['six images', { prompt: 'x', base64Array: Array.from({ length: 6 }, () => image) }, '5'],
    ['an image as http URL', { prompt: 'x', base64Array: ['http://127.0.0.1/a.png'] }, 'data URL'],
    ['a GIF', { prompt: 'x', base64Array: [dataUrl('image/gif', imageFiles.gif(8, 8))] }, 'PNG or JPEG'],
    [
      'a GIF that is said to be a PNG',
      { prompt: 'x', base64Array: [dataUrl('image/png', imageFiles.gif(8, 8))] },
      'PNG or JPEG',
    ],
    [
      'half a image',
      { prompt: 'x', base64Array: [dataUrl('image/png', png(64, 64).subarray(0, 50))] },
      'damaged',
    ],
  ])('%s', async (_case, body, word) => {
    const reply = await client.submit('imagine', body);
    expect(reply).toMatchObject({ code: 4, result: '' });
    expect(reply.description).toContain(word);
  });
});

describe('triggers', () => {
  test.each([
    ['reject', 24],
    ['error', 9],
    ['queue-full', 23],
  ])('[[%s]] is code %i', async (name, code) => {
    expect(await client.imagine(`A boat [[${name}]]`)).toMatchObject({ code, result: '' });
    const action = { taskId: 'x', customId: 'x', state: `[[${name}]]` };
    expect(await client.submit('action', action)).toMatchObject({ code });
  });

  test('[[reject]] names the word', async () => {
    const { properties } = await client.imagine('A boat [[reject]]');
    expect(properties).toEqual({ promptEn: 'A boat [[reject]]', bannedWord: '[[reject]]' });
  });

  test.each([
    ['unauthorized', 401],
    ['denied', 403],
    ['throttle', 429],
    ['unavailable', 503],
  ])('[[%s]] is HTTP %i', async (name, status) => {
    const reply = await send('imagine', { prompt: `[[${name}]]` });
    expect(reply).toMatchObject({ status, body: { code: status, description: expect.any(String) } });
    expect(reply.headers.get('retry-after')).toBe(status === 429 ? '1' : null);
  });

  test('[[queued]] is code 22 with a task', async () => {
    const reply = await client.imagine('A boat [[queued]]');
    expect(reply).toMatchObject({
      code: 22,
      properties: { numberOfQueues: 1, instanceId: expect.any(String) },
    });
    expect(await client.fetchTask(reply.result)).toMatchObject({ status: 'NOT_START' });
    upstream.advance(taskDurationMs);
    await upstream.until<ImageTask>(fetchPath(reply.result), ({ status }) => status === 'SUCCESS');
  });

  test('[[malformed]] and [[drop]] break the response', async () => {
    await expect(send('imagine', { prompt: '[[malformed]]' })).rejects.toThrow(SyntaxError);
    await expect(send('imagine', { prompt: '[[drop]]' })).rejects.toThrow('fetch failed');
  });

  test('[[hang]] sends no response until the client disconnects', async () => {
    const leave = new AbortController();
    const hanging = fetch(`${upstream.url}/imgjob/submit/imagine`, {
      method: 'POST',
      body: JSON.stringify({ prompt: '[[hang]]' }),
      signal: leave.signal,
    });
    const winner = await Promise.race([hanging, client.imagine('A boat').then(() => 'other')]);
    expect(winner).toBe('other');
    leave.abort();
    await expect(hanging).rejects.toThrow('aborted');
  });

  test('[[slow]] takes ten times as long, [[never]] never ends', async () => {
    const [slow, never] = [await client.imagine('[[slow]]'), await client.imagine('[[never]]')];
    upstream.advance(taskDurationMs * 10 - 1);
    expect(await client.fetchTask(slow.result)).toMatchObject({ status: 'IN_PROGRESS' });
    await client.ended(Promise.resolve(slow));
    upstream.advance(day / 2);
    expect(await client.fetchTask(never.result)).toMatchObject({ status: 'IN_PROGRESS' });
  });

  test.each(['fail-late', 'sensitive'])('[[%s]] ends as FAILURE', async (name) => {
    const task = await client.ended(client.imagine(`A boat [[${name}]]`));
    expect(task).toMatchObject({
      status: 'FAILURE',
      imageUrl: null,
      buttons: [],
      failReason: expect.any(String),
    });
  });

  test('[[unknown]] is unknown to polls', async () => {
    const { result } = await client.imagine('[[unknown]]');
    expect(await client.fetchTask(result)).toBeUndefined();
  });

  test('[[expired-url]] returns an expired URL', async () => {
    const { imageUrl } = await client.ended(client.imagine('[[expired-url]]'));
    expect((await fetch(imageUrl ?? '')).status).toBe(403);
  });

  test('[[poll-…]] affect only the first poll', async () => {
    const poll = (id: string) => upstream.send('GET', fetchPath(id));
    for (const [name, status] of [
      ['poll-error', 500],
      ['poll-throttle', 429],
    ] as const) {
      const { result } = await client.imagine(`[[${name}]]`);
      expect((await poll(result)).status).toBe(status);
      expect((await poll(result)).status).toBe(200);
    }
    const [malformed, dropped] = [
      await client.imagine('[[poll-malformed]]'),
      await client.imagine('[[poll-drop]]'),
    ];
    await expect(poll(malformed.result)).rejects.toThrow(SyntaxError);
    await expect(poll(dropped.result)).rejects.toThrow('fetch failed');
    for (const { result } of [malformed, dropped]) expect((await poll(result)).status).toBe(200);
  });
});
