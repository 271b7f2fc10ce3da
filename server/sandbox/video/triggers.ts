/**
 * Words in a prompt that make a video, 3D or asset job go wrong on purpose, so that callers can reach every path.
 * They are looked for in the prompt, in media URLs (there also percent-encoded) and in the name of an asset.
 *
 * | in the prompt       | what happens                                                                           |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[reject]]`        | create: 400, the prompt is unsuitable                                                  |
 * | `[[unauthorized]]`  | create: 401, although the key is right                                                 |
 * | `[[denied]]`        | create: 403                                                                            |
 * | `[[throttle]]`      | create: 429 with `retry-after: 1`                                                      |
 * | `[[error]]`         | create: 500                                                                            |
 * | `[[unavailable]]`   | create: 503                                                                            |
 * | `[[hang]]`          | create: no answer until the client leaves, and no task                                 |
 * | `[[malformed]]`     | create: 200 with broken JSON; the task exists                                          |
 * | `[[drop]]`          | create: the connection breaks instead of the answer; the task exists                   |
 * | `[[slow]]`          | the task takes ten times as long                                                       |
 * | `[[never]]`         | the task runs until it expires, which natively and with eta it never does              |
 * | `[[fail-late]]`     | the task fails at its end with an internal error                                       |
 * | `[[sensitive]]`     | the task fails at its end because the output is unsuitable; with eta it is `done`      |
 * |                     | with `respect_moderation` false and without a URL                                      |
 * | `[[expire]]`        | the task is `expired` at its end; natively it is UNKNOWN from then on                  |
 * | `[[unknown]]`       | the task is unknown to every poll                                                      |
 * | `[[expired-url]]`   | the task succeeds, but its URLs have run out already                                   |
 * | `[[no-status]]`     | eta only: the finished task is shown without a status                                  |
 * | `[[poll-error]]`    | the first poll: 500                                                                    |
 * | `[[poll-throttle]]` | the first poll: 429 with `retry-after: 1`                                              |
 * | `[[poll-malformed]]`| the first poll: 200 with broken JSON                                                   |
 * | `[[poll-drop]]`     | the first poll: the connection breaks                                                  |
 *
 * For an asset `[[fail-late]]` is a face that does not match, `[[sensitive]]` unsuitable media, and `[[never]]` keeps
 * it in processing; what concerns results has no meaning for it. Of several refusals the first in this table wins.
 */

const names = [
  'reject',
  'unauthorized',
  'denied',
  'throttle',
  'error',
  'unavailable',
  'hang',
  'malformed',
  'drop',
  'slow',
  'never',
  'fail-late',
  'sensitive',
  'expire',
  'unknown',
  'expired-url',
  'no-status',
  'poll-error',
  'poll-throttle',
  'poll-malformed',
  'poll-drop',
] as const;

export type TriggerName = (typeof names)[number];
export type Triggers = ReadonlySet<TriggerName>;

const pattern = new RegExp(`\\[\\[(${names.join('|')})\\]\\]`, 'g');

/** The triggers in all of the texts; of data URLs nothing is read. */
export function findTriggers(...texts: readonly (string | undefined)[]): Triggers {
  const found = new Set<TriggerName>();
  for (const text of texts) {
    if (text === undefined || text.startsWith('data:')) continue;
    const readable = text.replace(/%5B/gi, '[').replace(/%5D/gi, ']');
    for (const [, name] of readable.matchAll(pattern)) found.add(name as TriggerName);
  }
  return found;
}
