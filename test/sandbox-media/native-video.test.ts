import { describe, expect, test } from 'vitest';
import { dataUrl, imageFiles, mp3, png, video, wav } from './media-files.ts';
import { expectSchema, taskDurationMs, useFileHost, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream();
const host = useFileHost();
const path = '/api/v1/services/aigc/video-generation/video-synthesis';

interface Task {
  request_id: string;
  output: {
    task_id: string;
    task_status: string;
    submit_time?: string;
    scheduled_time?: string;
    end_time?: string;
    orig_prompt?: string;
    video_url?: string;
    code?: string;
    message?: string;
  };
  usage?: Record<string, unknown>;
}

interface ErrorBody {
  code: string;
  message: string;
  request_id: string;
}

interface Media {
  type: string;
  url: string;
}

function body(input: object, parameters?: object) {
  return { model: 'gamma3.0-video', input, parameters };
}

/** Small and short by default, so that rendering is fast. */
const small = { resolution: '480P', duration: 2, audio: false };

async function submit(input: object, parameters?: object): Promise<string> {
  const request = body(input, { ...small, ...parameters });
  const { status, body: task } = await client.send<Task>('POST', path, request, {
    'X-Native-Async': 'enable',
  });
  expect(status, JSON.stringify(task)).toBe(200);
  expectSchema('NativeTaskSubmittedReply', task);
  expect(task.output.task_status).toBe('PENDING');
  return task.output.task_id;
}

async function poll(id: string): Promise<Task> {
  const { status, body: task } = await client.send<Task>('GET', `/api/v1/tasks/${id}`);
  expect(status).toBe(200);
  expectSchema('NativeTask', task);
  return task;
}

/** Returns the task after its duration and its work. */
async function finish(id: string, after = taskDurationMs): Promise<Task> {
  client.advance(after);
  return await client.until<Task>(`/api/v1/tasks/${id}`, ({ output }) => output.task_status !== 'RUNNING');
}

async function refused(request: object, headers: Record<string, string> = { 'X-Native-Async': 'enable' }) {
  const { status, body: error } = await client.send<ErrorBody>('POST', path, request, headers);
  expectSchema('NativeError', error);
  return { status, code: error.code, message: error.message };
}

describe('task', () => {
  test('goes from PENDING over RUNNING to SUCCEEDED and stays there', async () => {
    const started = client.time;
    const id = await submit({ prompt: 'A paper boat' }, { resolution: '480P', duration: 2, seed: 0 });
    const time = (after: number) =>
      new Date(started + after).toISOString().replace('T', ' ').replace('Z', '');
    const pending = await poll(id);
    expect(pending.output).toEqual({ task_id: id, task_status: 'PENDING', submit_time: time(0) });
    expect(pending.usage).toBeUndefined();
    client.advance(taskDurationMs / 5);
    expect((await poll(id)).output).toEqual({
      task_id: id,
      task_status: 'RUNNING',
      submit_time: time(0),
      scheduled_time: time(taskDurationMs / 5),
    });
    client.advance((taskDurationMs * 4) / 5 - 1);
    expect((await poll(id)).output.task_status).toBe('RUNNING');
    client.advance(1);
    const done = await finish(id, 0);
    expect(done.output).toEqual({
      task_id: id,
      task_status: 'SUCCEEDED',
      submit_time: time(0),
      scheduled_time: time(taskDurationMs / 5),
      end_time: time(taskDurationMs),
      orig_prompt: 'A paper boat',
      video_url: expect.stringMatching(/^http:.*\.mp4\?expires=\d+&signature=[0-9a-f]{64}$/),
    });
    expect(done.usage).toEqual({
      video_count: 1,
      duration: 2,
      input_video_duration: 0,
      output_video_duration: 2,
      fps: 30,
      SR: 480,
      ratio: '16:9',
    });
    client.advance(taskDurationMs);
    expect({ ...(await poll(id)), request_id: '' }).toEqual({ ...done, request_id: '' });
  });

  test('is unknown with status 200 if it never existed, and after 24 hours', async () => {
    const id = await submit({ prompt: 'Old' });
    client.advance(24 * 60 * 60 * 1000 - 1);
    expect((await finish(id, 0)).output.task_status).toBe('SUCCEEDED');
    client.advance(1);
    expect((await poll(id)).output).toEqual({ task_id: id, task_status: 'UNKNOWN' });
    expect((await poll('no-such-task')).output.task_status).toBe('UNKNOWN');
  });

  test('can only be canceled while it is PENDING', async () => {
    const id = await submit({ prompt: 'Not this' });
    const canceled = await client.send('POST', `/api/v1/tasks/${id}/cancel`);
    expect(canceled.status).toBe(200);
    expectSchema('NativeCancelReply', canceled.body);
    expect((await poll(id)).output.task_status).toBe('CANCELED');
    client.advance(taskDurationMs);
    expect((await poll(id)).output.task_status).toBe('CANCELED');
    const running = await submit({ prompt: 'This' });
    client.advance(taskDurationMs / 2);
    for (const late of [id, running, 'no-such-task']) {
      const { status, body: error } = await client.send<ErrorBody>('POST', `/api/v1/tasks/${late}/cancel`);
      expect([status, error.code]).toEqual([400, 'UnsupportedOperation']);
    }
    expect((await poll(running)).output.task_status).toBe('RUNNING');
  });

  test('returns a video with the requested properties on every poll', async () => {
    const id = await submit(
      { prompt: 'A boat' },
      { resolution: '480P', ratio: '4:3', duration: 3, audio: false, seed: 5 },
    );
    const { output } = await finish(id);
    const { bytes, type } = await client.download(output.video_url ?? '');
    expect(type).toBe('video/mp4');
    const source = host.put('own.mp4', bytes);
    const media = [{ type: 'reference_video', url: source }];
    const again = await submit({ media }, { resolution: undefined });
    expect((await finish(again)).usage).toMatchObject({
      duration: 5,
      input_video_duration: 3,
      output_video_duration: 2,
      ratio: '640:480',
      SR: 1080,
    });
    expect(Buffer.compare((await client.download(output.video_url ?? '')).bytes, bytes)).toBe(0);
  });

  test('chooses a duration for -1', async () => {
    const { usage } = await finish(await submit({ prompt: 'word '.repeat(24) }, { duration: -1 }));
    expect(usage).toMatchObject({ duration: 7, output_video_duration: 7 });
  });
});

describe('media', () => {
  test('of every kind is accepted', async () => {
    const document = host.put('story.md', Buffer.from('# A story'));
    const media: Media[] = [
      { type: 'reference_image', url: host.put('a.jpg', imageFiles.jpeg(300, 300)) },
      { type: 'reference_image', url: dataUrl('image/png', png(240, 400)) },
      { type: 'reference_image', url: host.put('a.webp', imageFiles.webp(300, 2000)) },
      { type: 'reference_image', url: host.put('a.bmp', imageFiles.bmp(300, 301)) },
      { type: 'reference_video', url: host.put('a.mp4', await video({ seconds: 1 })) },
      { type: 'reference_video', url: host.put('a.mov', await video({ seconds: 2, container: 'mov' })) },
      { type: 'reference_audio', url: host.put('a.wav', wav(1)) },
      { type: 'reference_audio', url: host.put('a.mp3', await mp3(3)) },
      { type: 'file', url: document },
    ];
    const { output, usage } = await finish(await submit({ prompt: 'All of it', media }));
    expect(output).toMatchObject({ task_status: 'SUCCEEDED' });
    expect(usage).toMatchObject({ duration: 5, input_video_duration: 3, ratio: '300:300' });
    const link = [{ type: 'link', url: 'https://page.example/' }];
    expect((await finish(await submit({ media: link }))).output.task_status).toBe('SUCCEEDED');
  });

  test('first and last frame determine the ratio and require no prompt', async () => {
    const media = [
      { type: 'last_frame', url: dataUrl('image/png', png(400, 300)) },
      { type: 'first_frame', url: dataUrl('image/png', png(400, 300)) },
    ];
    const { output, usage } = await finish(await submit({ media }, { resolution: '480P', duration: 2 }));
    expect(output.task_status).toBe('SUCCEEDED');
    expect(output.orig_prompt).toBeUndefined();
    expect(usage).toMatchObject({ ratio: '400:300' });
  });

  const image =
    (url: () => string): (() => Media[]) =>
    () => [{ type: 'reference_image', url: url() }];
  test.each<[string, string, () => Media[] | Promise<Media[]>]>([
    ['a URL that does not exist', 'InvalidURL', image(() => host.address('nothing.png'))],
    ['a host that does not exist', 'InvalidURL', image(() => 'http://nowhere.invalid/a.png')],
    ['an object-storage address', 'InvalidURL', image(() => 'oss://bucket/a.png')],
    ['an endless redirect', 'InvalidURL', image(() => host.redirect('loop', host.address('loop')))],
    [
      'no image',
      'InvalidParameter.Format',
      image(() => host.put('text.png', Buffer.from('Hello, this is text.'))),
    ],
    [
      'a damaged image',
      'InvalidParameter.Format',
      image(() => host.put('cut.png', png(300, 300).subarray(0, 60))),
    ],
    ['a GIF', 'InvalidParameter.Format', image(() => dataUrl('image/gif', imageFiles.gif(300, 300)))],
    [
      'a transparent PNG',
      'InvalidParameter.Transparency',
      image(() => dataUrl('image/png', png(300, 300, [1, 2, 3, 100]))),
    ],
    ['a small image', 'InvalidParameter.SideLength', image(() => dataUrl('image/png', png(239, 300)))],
    [
      'a wide image',
      'InvalidParameter.AspectRatio',
      image(() => dataUrl('image/webp', imageFiles.webp(2000, 240))),
    ],
    [
      'a large image',
      'InvalidParameter.Size',
      image(() => host.put('large.png', Buffer.concat([png(300, 300), Buffer.alloc(20 * 1024 * 1024)]))),
    ],
    [
      'a long clip',
      'InvalidParameter.Duration',
      () => [{ type: 'reference_audio', url: host.put('long.wav', wav(15.2)) }],
    ],
    [
      'clips that are long together',
      'InvalidParameter.Duration',
      () => [1, 2].map((index) => ({ type: 'reference_audio', url: host.put(`half${index}.wav`, wav(8)) })),
    ],
    [
      'a small video',
      'InvalidParameter.SideLength',
      async () => [
        { type: 'reference_video', url: host.put('small.mp4', await video({ width: 320, height: 238 })) },
      ],
    ],
    [
      'an unknown document',
      'InvalidParameter.Format',
      () => [{ type: 'file', url: host.put('a.exe', Buffer.from('MZ')) }],
    ],
    [
      'a PDF of many pages',
      'InvalidParameter.Pages',
      () => [
        { type: 'file', url: host.put('a.pdf', Buffer.from(`%PDF-1.4${'<< /Type /Page >>'.repeat(51)}`)) },
      ],
    ],
  ])('%s fails the task', async (_case, code, make) => {
    const { output, usage } = await finish(await submit({ prompt: 'Look', media: await make() }));
    expect(output).toMatchObject({ task_status: 'FAILED', code, message: expect.any(String) });
    expect(usage).toBeUndefined();
  });

  test('that is too long together with the output fails the task', async () => {
    const media = [{ type: 'reference_video', url: host.put('four.mp4', await video({ seconds: 4 })) }];
    const { output } = await finish(await submit({ media }, { duration: 27 }));
    expect(output).toMatchObject({ task_status: 'FAILED', code: 'InvalidParameter' });
  });

  test('a redirect to a file is followed', async () => {
    const url = host.redirect('moved', host.put('there.png', png(300, 300)));
    expect((await finish(await submit({ media: [{ type: 'first_frame', url }] }))).output.task_status).toBe(
      'SUCCEEDED',
    );
  });
});

describe('a bad request', () => {
  const item = (type: string, url = 'https://files.example/a') => ({ type, url });
  test.each<[string, object, string]>([
    ['no model', { input: { prompt: 'Hi' } }, 'BadRequest.EmptyModel'],
    ['a model that is not a string', { model: 3, input: { prompt: 'Hi' } }, 'InvalidParameter'],
    ['a model of another route', { model: 'eta-imagine-video', input: { prompt: 'Hi' } }, 'InvalidParameter'],
    ['no input', { model: 'gamma3.0-video' }, 'BadRequest.EmptyInput'],
    ['neither prompt nor media', body({ prompt: '' }), 'InvalidParameter'],
    ['a prompt that is not a string', body({ prompt: 1 }), 'InvalidParameter'],
    ['a resolution in lower case', body({ prompt: 'Hi' }, { resolution: '720p' }), 'InvalidParameter'],
    ['an unsupported ratio', body({ prompt: 'Hi' }, { ratio: '21:9' }), 'InvalidParameter'],
    ['a duration of 1', body({ prompt: 'Hi' }, { duration: 1 }), 'InvalidParameter'],
    ['31 seconds', body({ prompt: 'Hi' }, { duration: 31 }), 'InvalidParameter'],
    ['a fractional duration', body({ prompt: 'Hi' }, { duration: 2.5 }), 'InvalidParameter'],
    ['a duration as string', body({ prompt: 'Hi' }, { duration: '5' }), 'InvalidParameter'],
    ['a negative seed', body({ prompt: 'Hi' }, { seed: -1 }), 'InvalidParameter'],
    ['a large seed', body({ prompt: 'Hi' }, { seed: 2 ** 31 }), 'InvalidParameter'],
    ['audio as string', body({ prompt: 'Hi' }, { audio: 'yes' }), 'InvalidParameter'],
    ['an unknown media type', body({ media: [item('video')] }), 'InvalidParameter'],
    ['media without a type', body({ media: [{ url: 'https://files.example/a' }] }), 'InvalidParameter'],
    ['media without a URL', body({ media: [{ type: 'first_frame' }] }), 'InvalidParameter'],
    [
      'a video as a data URL',
      body({ media: [item('reference_video', 'data:video/mp4;base64,AAAA')] }),
      'InvalidParameter',
    ],
    [
      'a link that is not an http URL',
      body({ media: [item('link', 'ftp://files.example/a')] }),
      'InvalidParameter',
    ],
    ['a relative URL', body({ media: [item('first_frame', 'a.png')] }), 'InvalidParameter'],
    ['two first frames', body({ media: [item('first_frame'), item('first_frame')] }), 'InvalidParameter'],
    [
      'a first frame beside a reference',
      body({ media: [item('first_frame'), item('reference_image')] }),
      'InvalidParameter',
    ],
    ['a last frame and a link', body({ media: [item('last_frame'), item('link')] }), 'InvalidParameter'],
    ['file and link', body({ media: [item('file'), item('link')] }), 'InvalidParameter'],
    [
      'eleven reference images',
      body({ media: Array.from({ length: 11 }, () => item('reference_image')) }),
      'InvalidParameter',
    ],
    [
      'six reference videos',
      body({ media: Array.from({ length: 6 }, () => item('reference_video')) }),
      'InvalidParameter',
    ],
    [
      'six reference audios',
      body({ media: Array.from({ length: 6 }, () => item('reference_audio')) }),
      'InvalidParameter',
    ],
  ])('%s is rejected', async (_case, request, code) => {
    expect(await refused(request)).toMatchObject({ status: 400, code });
  });

  test('without the header is rejected', async () => {
    expect(await refused(body({ prompt: 'Hi' }), {})).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  test('with an unknown model is rejected', async () => {
    const request = { model: 'no-such-model', input: { prompt: 'Hi' } };
    expect(await refused(request)).toMatchObject({ status: 404, code: 'ModelNotFound' });
  });
});
