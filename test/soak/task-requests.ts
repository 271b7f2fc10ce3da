import type { SoakRequest } from './recorder.ts';
import { pick, post, type Random, randomText } from './requests.ts';

/** Documented triggers of the upstream: none, at completion, and at polls. */
const completionTriggers = ['', '', '', '', '[[fail-late]] ', '[[sensitive]] ', '[[slow]] '] as const;
const pollTriggers = [
  '[[poll-error]] ',
  '[[poll-throttle]] ',
  '[[poll-malformed]] ',
  '[[poll-drop]] ',
] as const;
/** Documented triggers at submission. */
const submitTriggers = [
  '[[reject]] ',
  '[[throttle]] ',
  '[[error]] ',
  '[[unavailable]] ',
  '[[malformed]] ',
  '[[drop]] ',
] as const;

const native = '/api/v1/services/aigc/video-generation';

/** Returns a request that creates a random task. Most tasks succeed. `createUrl` returns a callback URL. */
export function createTaskRequest(random: Random, callbackUrl: () => string): SoakRequest {
  const choice = random();
  const trigger = pick(
    random,
    choice < 0.12 ? submitTriggers : choice < 0.3 ? pollTriggers : completionTriggers,
  );
  const prompt = `${trigger}${randomText(random)}`;
  const mayBeRejected = { statuses: [200, 400, 429, 502, 503], mayFail: true };
  const postTask = (kind: string, path: string, body: object, more: Partial<SoakRequest> = {}): SoakRequest =>
    post(kind, path, body, { createsTask: true, ...(choice < 0.12 ? mayBeRejected : {}), ...more });
  const postWithCallback = (
    kind: string,
    path: string,
    body: (callbackUrl: string) => object,
  ): SoakRequest => {
    if (random() < 0.5) return postTask(kind, path, body(''));
    const address = callbackUrl();
    return postTask(kind, path, body(address), { callbackUrl: address });
  };
  const callbackField = (name: string, address: string) => (address === '' ? {} : { [name]: address });
  return pick(random, [
    () => postTask('video', '/v1/videos', { model: 'gamma3.0-video', prompt, seconds: '2', size: '480p' }),
    () => postTask('eta video', '/v1/videos', { model: 'eta-imagine-video', prompt, seconds: '2' }),
    () =>
      postTask('native video', `${native}/video-synthesis`, {
        model: 'gamma3.0-video',
        input: { prompt },
        parameters: { duration: 2, resolution: '480P' },
      }),
    () => postTask('3d', `${native}/3d-generation`, { model: 'theta-3d', input: { prompt } }),
    () =>
      postTask('generic video', '/v1/video/generations', {
        model: 'epsilon-delta-2-0-fast-260128',
        prompt,
        seconds: '4',
        size: '480p',
      }),
    () =>
      postWithCallback('official video', '/api/v3/contents/generations/tasks', (address) => ({
        model: 'epsilon-delta-2-5-260628',
        content: [{ type: 'text', text: prompt }],
        resolution: '480p',
        duration: 4,
        ...callbackField('callback_url', address),
      })),
    () => postTask('lyrics', '/sigma/submit/lyrics', { prompt }),
    () =>
      postWithCallback('music', '/sigma/submit/music', (address) => ({
        prompt,
        mv: 'chirp-hawk',
        ...callbackField('callback_url', address),
      })),
    () =>
      postWithCallback('image job', '/imgjob/submit/imagine', (address) => ({
        prompt,
        ...callbackField('notifyHook', address),
      })),
  ])();
}

/** Returns the result of a task from its record in any format. Undefined while the task runs. */
export function taskEnd(record: string): 'succeeded' | 'failed' | undefined {
  if (/"(completed|SUCCESS|SUCCEEDED|succeeded)"/.test(record)) return 'succeeded';
  return /"(failed|FAILED|FAILURE|CANCELED|cancelled|expired)"/.test(record) ? 'failed' : undefined;
}
