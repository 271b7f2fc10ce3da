import { pick, post, type Random, text } from './asks.ts';
import type { Ask } from './evidence.ts';

/** What an upstream does with a task, by its documented triggers: with nothing, at its end, when it is polled. */
const courses = ['', '', '', '', '[[fail-late]] ', '[[sensitive]] ', '[[slow]] '] as const;
const polls = ['[[poll-error]] ', '[[poll-throttle]] ', '[[poll-malformed]] ', '[[poll-drop]] '] as const;
/** The same when it is created. */
const refusals = [
  '[[reject]] ',
  '[[throttle]] ',
  '[[error]] ',
  '[[unavailable]] ',
  '[[malformed]] ',
  '[[drop]] ',
] as const;

const native = '/api/v1/services/aigc/video-generation';

/** A task of any kind; most come to a good end. `hook` is where those that can are to tell it. */
export function taskCreation(random: Random, hook: () => string): Ask {
  const dice = random();
  const trigger = pick(random, dice < 0.12 ? refusals : dice < 0.3 ? polls : courses);
  const prompt = `${trigger}${text(random)}`;
  const refused = { statuses: [200, 400, 429, 502, 503], mayBreak: true };
  const make = (kind: string, path: string, body: object, more: Partial<Ask> = {}): Ask =>
    post(kind, path, body, { makesTask: true, ...(dice < 0.12 ? refused : {}), ...more });
  const told = (kind: string, path: string, body: (hook: string) => object): Ask => {
    if (random() < 0.5) return make(kind, path, body(''));
    const address = hook();
    return make(kind, path, body(address), { hook: address });
  };
  const calledBack = (name: string, address: string) => (address === '' ? {} : { [name]: address });
  return pick(random, [
    () => make('video', '/v1/videos', { model: 'gamma3.0-video', prompt, seconds: '2', size: '480p' }),
    () => make('eta video', '/v1/videos', { model: 'eta-imagine-video', prompt, seconds: '2' }),
    () =>
      make('native video', `${native}/video-synthesis`, {
        model: 'gamma3.0-video',
        input: { prompt },
        parameters: { duration: 2, resolution: '480P' },
      }),
    () => make('3d', `${native}/3d-generation`, { model: 'theta-3d', input: { prompt } }),
    () =>
      make('generic video', '/v1/video/generations', {
        model: 'epsilon-delta-2-0-fast-260128',
        prompt,
        seconds: '4',
        size: '480p',
      }),
    () =>
      told('official video', '/api/v3/contents/generations/tasks', (address) => ({
        model: 'epsilon-delta-2-5-260628',
        content: [{ type: 'text', text: prompt }],
        resolution: '480p',
        duration: 4,
        ...calledBack('callback_url', address),
      })),
    () => make('lyrics', '/sigma/submit/lyrics', { prompt }),
    () =>
      told('music', '/sigma/submit/music', (address) => ({
        prompt,
        mv: 'chirp-hawk',
        ...calledBack('callback_url', address),
      })),
    () =>
      told('image job', '/imgjob/submit/imagine', (address) => ({
        prompt,
        ...calledBack('notifyHook', address),
      })),
  ])();
}

/** How a task has ended, as its record says it in whichever format; undefined: it has not. */
export function taskEnd(record: string): 'good' | 'bad' | undefined {
  if (/"(completed|SUCCESS|SUCCEEDED|succeeded)"/.test(record)) return 'good';
  return /"(failed|FAILED|FAILURE|CANCELED|cancelled|expired)"/.test(record) ? 'bad' : undefined;
}
