/**
 * Words that make the upstream fail on purpose, so that callers can reach every error path. Of several refusals the
 * first of its table wins.
 *
 * # Speech
 *
 * They are billed like any other text and are not spoken. Over HTTP:
 *
 * | in the text           | answer                                                                               |
 * |-----------------------|--------------------------------------------------------------------------------------|
 * | `[[reject]]`          | 400 DataInspectionFailed                                                             |
 * | `[[unauthorized]]`    | 401 InvalidApiKey, although the key is right                                         |
 * | `[[denied]]`          | 403 AccessDenied                                                                     |
 * | `[[throttle]]`        | 429 Throttling.RateQuota with `retry-after: 1`                                       |
 * | `[[error]]`           | 500 InternalError                                                                    |
 * | `[[unavailable]]`     | 503 ModelUnavailable                                                                 |
 * | `[[base-resp:<n>]]`   | beta models only: 200 with `base_resp.status_code` n and `data` null                 |
 * | `[[malformed]]`       | 200 with broken JSON: the body, or the data of the first event                       |
 * | `[[drop]]`            | the connection breaks: before the reply, or after the first audio of a stream        |
 * | `[[fail-late]]`       | stream: `event:error` 500 InternalError after the first audio; otherwise 500         |
 * | `[[slow]]`            | the ordinary answer after 2 seconds                                                  |
 * | `[[hang]]`            | no answer until the client leaves                                                    |
 * | `[[no-audio]]`        | 200 without audio: empty data, empty URL                                             |
 * | `[[expired-url]]`     | the ordinary answer, but its audio URL has run out already                           |
 *
 * The voice services look for them in `url` (there also percent-encoded), `voice_prompt`, `preview_text` and `text`;
 * what concerns audio has no meaning for them. One is theirs alone:
 *
 * | `[[undeployed]]`      | voice-enrollment: the new voice ends as UNDEPLOYED instead of OK                     |
 *
 * On the sockets, when the text's turn comes to be spoken. "Fails" is an `error` event on the realtime socket and
 * `task-failed` on the inference socket, which always closes after it:
 *
 * | in the text              | what happens                                                                      |
 * |--------------------------|-----------------------------------------------------------------------------------|
 * | `[[refuse-after-upgrade]]` | as soon as it arrives: fails with AccessDenied, close 1008                      |
 * | `[[reject]]`             | fails with DataInspectionFailed; realtime stays open, inference closes with 1007  |
 * | `[[unauthorized]]`, `[[denied]]` | fails with InvalidApiKey, AccessDenied; close 1008                        |
 * | `[[throttle]]`           | fails with Throttling.RateQuota; close 1013                                       |
 * | `[[error]]`, `[[unavailable]]` | fails with InternalError, ModelUnavailable; close 1011                      |
 * | `[[fail-late]]`          | the first audio, then InternalError; realtime: `response.done` failed, stays open |
 * | `[[drop]]`               | the first audio, then the connection breaks without a close frame                 |
 * | `[[hang]]`               | nothing more is sent, whatever the client does                                    |
 * | `[[garbage]]`            | a text frame that is not JSON before the first audio, then all goes on            |
 * | `[[malformed]]`          | the same with JSON that is no event                                               |
 * | `[[no-audio]]`           | all events but those with audio                                                   |
 * | `[[slow]]`               | all goes on after 2 seconds                                                       |
 *
 * In the voice or the instructions those that refuse and `[[hang]]` act on `session.update` and `run-task`
 * themselves, so before any text.
 *
 * # Video, 3D, image jobs and assets
 *
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
 * | `[[queued]]`        | the task stays in the queue until it is canceled or expires                            |
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
 * For image jobs they are looked for in the prompt and in `state`, which is all the text that an action has. They are
 * the same as above, but what refuses is told in the protocol's own way:
 *
 * | in prompt or state  | what happens                                                                           |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[reject]]`        | submit: code 24, a banned word                                                         |
 * | `[[unauthorized]]`, `[[denied]]`, `[[throttle]]`, `[[unavailable]]` | submit: HTTP 401, 403, 429, 503        |
 * | `[[error]]`         | submit: code 9                                                                         |
 * | `[[queue-full]]`    | submit: code 23, and no task                                                           |
 * | `[[queued]]`        | submit: code 22; the task is NOT_START until it runs                                   |
 * | `[[fail-late]]`, `[[sensitive]]` | the task ends as FAILURE                                                  |
 * | `[[unknown]]`       | the task is unknown to every query and action                                          |
 *
 * Where a submission leads to no task of its own, as an action that waits for its prompt, what concerns tasks has no
 * meaning; nor has `[[expire]]`.
 *
 * For music and lyrics they are looked for in the prompt, the description, the title and the tags; they are not sung.
 * They are the same as for videos, those of the first poll act when a task is fetched, alone or among others, and:
 *
 * | in any of them      | what happens                                                                           |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[fail-late]]`, `[[sensitive]]` | the task ends as FAILURE, its songs as `error`                            |
 * | `[[one-fails]]`     | the task is SUCCESS, but its second song is `error`                                    |
 * | `[[expire]]`        | the task is UNKNOWN from its end on                                                    |
 * | `[[unknown]]`       | the task and its clips are unknown to every call                                       |
 *
 * For a verification session they are looked for in `callback_url` (there also percent-encoded) and `project_name`.
 * What refuses or troubles a create or the first poll is as above, and:
 *
 * | in either           | what happens                                                                           |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[fail-late]]`     | whoever approves fails all the same                                                    |
 * | `[[expire]]`        | the session expires after a second                                                     |
 * | `[[unknown]]`       | the session is unknown to every read; its page works                                   |
 *
 * For an asset `[[fail-late]]` is a face that does not match, `[[sensitive]]` unsuitable media, and `[[never]]` keeps
 * it in processing; what concerns results has no meaning for it.
 *
 * # Embeddings and messages
 *
 * Looked for in the texts of an embeddings request, and in the last turn of the user. Those of speech over HTTP that
 * refuse, `[[slow]]` and `[[hang]]` do the same here, and `[[malformed]]` too.
 *
 * | in the text         | what happens                                                                           |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[drop]]`          | the connection breaks: before a message, or after the first vector or piece of text    |
 * | `[[fail-late]]`     | messages: a stream ends with an `error` event after the first piece; otherwise 500     |
 */

const names = [
  'reject',
  'unauthorized',
  'denied',
  'throttle',
  'error',
  'unavailable',
  'base-resp',
  'malformed',
  'drop',
  'fail-late',
  'slow',
  'hang',
  'no-audio',
  'expired-url',
  'undeployed',
  'refuse-after-upgrade',
  'garbage',
  'never',
  'sensitive',
  'expire',
  'unknown',
  'no-status',
  'poll-error',
  'poll-throttle',
  'poll-malformed',
  'poll-drop',
  'queued',
  'queue-full',
  'one-fails',
] as const;

export type TriggerName = (typeof names)[number];

/** The triggers of a request, each with its number if it has one. */
export type Triggers = ReadonlyMap<TriggerName, number | undefined>;

const pattern = new RegExp(`\\[\\[(${names.join('|')})(?::(\\d{1,6}))?\\]\\]`, 'g');

/** The triggers in all of the texts; of data URLs nothing is read. */
export function findTriggers(...texts: readonly (string | undefined)[]): Triggers {
  const found = new Map<TriggerName, number | undefined>();
  for (const text of texts) {
    if (text === undefined || text.startsWith('data:')) continue;
    const readable = text.replace(/%5B/gi, '[').replace(/%5D/gi, ']');
    for (const [, name, value] of readable.matchAll(pattern))
      found.set(name as TriggerName, value === undefined ? undefined : Number(value));
  }
  return found;
}

/** Blanks the triggers out, leaving every other character in its place. */
export function blankTriggers(text: string): string {
  return text.replace(pattern, (trigger) => ' '.repeat(trigger.length));
}
