/**
 * Keywords in a request that make the upstream fail on purpose, so that clients and tests can reach every error path. If
 * a request has several triggers that fail, the first in the table applies.
 *
 * # Speech
 *
 * The upstream bills triggers like any other text and does not speak them. Over HTTP:
 *
 * | in the text           | response                                                                             |
 * |-----------------------|--------------------------------------------------------------------------------------|
 * | `[[reject]]`          | 400 DataInspectionFailed                                                             |
 * | `[[unauthorized]]`    | 401 InvalidApiKey, although the key is valid                                         |
 * | `[[denied]]`          | 403 AccessDenied                                                                     |
 * | `[[throttle]]`        | 429 Throttling.RateQuota with `retry-after: 1`                                       |
 * | `[[error]]`           | 500 InternalError                                                                    |
 * | `[[unavailable]]`     | 503 ModelUnavailable                                                                 |
 * | `[[base-resp:<n>]]`   | beta models only: 200 with `base_resp.status_code` n and `data` null                 |
 * | `[[malformed]]`       | 200 with malformed JSON: the body, or the data of the first event                    |
 * | `[[drop]]`            | the connection breaks: before the response, or after the first audio of a stream     |
 * | `[[fail-late]]`       | stream: `event:error` 500 InternalError after the first audio; otherwise 500         |
 * | `[[slow]]`            | the normal response after 2 seconds                                                  |
 * | `[[hang]]`            | no response until the client disconnects                                             |
 * | `[[no-audio]]`        | 200 without audio: empty data, empty URL                                             |
 * | `[[expired-url]]`     | the normal response, but its audio URL has expired                                   |
 *
 * The voice services search `url` (also percent-encoded), `voice_prompt`, `preview_text` and `text`. Triggers that concern
 * audio have no effect there. The voice services have one additional trigger:
 *
 * | `[[undeployed]]`      | voice-enrollment: the new voice ends as UNDEPLOYED instead of OK                     |
 *
 * On the sockets, a trigger applies when the synthesis of its text starts. "Fails" is an `error` event on the realtime
 * socket and `task-failed` on the inference socket, which always closes afterwards:
 *
 * | in the text              | effect                                                                            |
 * |--------------------------|-----------------------------------------------------------------------------------|
 * | `[[refuse-after-upgrade]]` | immediately on arrival: fails with AccessDenied, close 1008                     |
 * | `[[reject]]`             | fails with DataInspectionFailed; realtime stays open, inference closes with 1007  |
 * | `[[unauthorized]]`, `[[denied]]` | fails with InvalidApiKey, AccessDenied; close 1008                        |
 * | `[[throttle]]`           | fails with Throttling.RateQuota; close 1013                                       |
 * | `[[error]]`, `[[unavailable]]` | fails with InternalError, ModelUnavailable; close 1011                      |
 * | `[[fail-late]]`          | the first audio, then InternalError; realtime: `response.done` failed, stays open |
 * | `[[drop]]`               | the first audio, then the connection breaks without a close frame                 |
 * | `[[hang]]`               | nothing more is sent, whatever the client does                                    |
 * | `[[garbage]]`            | a text frame that is not JSON before the first audio, then normal processing      |
 * | `[[malformed]]`          | the same with JSON that is not an event                                           |
 * | `[[no-audio]]`           | all events except those with audio                                                |
 * | `[[slow]]`               | normal processing after 2 seconds                                                 |
 *
 * In the voice or the instructions, `[[hang]]` and the triggers that fail apply to `session.update` and `run-task`
 * themselves, before any text.
 *
 * # Video, 3D, image jobs and assets
 *
 * The upstream searches the prompt, media URLs (also percent-encoded) and the name of an asset.
 *
 * | in the prompt       | effect                                                                                 |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[reject]]`        | create: 400, the prompt is unsuitable                                                  |
 * | `[[unauthorized]]`  | create: 401, although the key is valid                                                 |
 * | `[[denied]]`        | create: 403                                                                            |
 * | `[[throttle]]`      | create: 429 with `retry-after: 1`                                                      |
 * | `[[error]]`         | create: 500                                                                            |
 * | `[[unavailable]]`   | create: 503                                                                            |
 * | `[[hang]]`          | create: no response until the client disconnects, and no task                          |
 * | `[[malformed]]`     | create: 200 with malformed JSON; the task exists                                       |
 * | `[[drop]]`          | create: the connection breaks instead of the response; the task exists                 |
 * | `[[slow]]`          | the task takes ten times as long                                                       |
 * | `[[never]]`         | the task runs until it expires, which never happens in the native and eta protocols    |
 * | `[[queued]]`        | the task stays in the queue until it is canceled or expires                            |
 * | `[[fail-late]]`     | the task fails at its end with an internal error                                       |
 * | `[[sensitive]]`     | the task fails at its end because the output is unsuitable; with eta it is `done`      |
 * |                     | with `respect_moderation` false and without a URL                                      |
 * | `[[expire]]`        | the task is `expired` at its end; in the native protocol its status becomes UNKNOWN    |
 * | `[[unknown]]`       | the task is unknown to every poll                                                      |
 * | `[[expired-url]]`   | the task succeeds, but its URLs have expired                                           |
 * | `[[no-status]]`     | eta only: the finished task has no status                                              |
 * | `[[poll-error]]`    | the first poll: 500                                                                    |
 * | `[[poll-throttle]]` | the first poll: 429 with `retry-after: 1`                                              |
 * | `[[poll-malformed]]`| the first poll: 200 with malformed JSON                                                |
 * | `[[poll-drop]]`     | the first poll: the connection breaks                                                  |
 *
 * For image jobs, the upstream searches the prompt and `state`, the only text of an action. The triggers have the same
 * effect as above, but errors use the format of the protocol:
 *
 * | in prompt or state  | effect                                                                                 |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[reject]]`        | submit: code 24, a banned word                                                         |
 * | `[[unauthorized]]`, `[[denied]]`, `[[throttle]]`, `[[unavailable]]` | submit: HTTP 401, 403, 429, 503        |
 * | `[[error]]`         | submit: code 9                                                                         |
 * | `[[queue-full]]`    | submit: code 23, and no task                                                           |
 * | `[[queued]]`        | submit: code 22; the task is NOT_START until it runs                                   |
 * | `[[fail-late]]`, `[[sensitive]]` | the task ends as FAILURE                                                  |
 * | `[[unknown]]`       | the task is unknown to every query and action                                          |
 *
 * Triggers that concern tasks have no effect on a submission without its own task, such as an action that waits for a
 * prompt. `[[expire]]` has no effect on image jobs.
 *
 * For music and lyrics, the upstream searches the prompt, the description, the title and the tags. Triggers are not
 * sung. They have the same effect as for videos; those of the first poll apply to any fetch of the task, and:
 *
 * | in any of them      | effect                                                                                 |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[fail-late]]`, `[[sensitive]]` | the task ends as FAILURE, its songs as `error`                            |
 * | `[[one-fails]]`     | the task is SUCCESS, but its second song is `error`                                    |
 * | `[[expire]]`        | the task is UNKNOWN after its end                                                      |
 * | `[[unknown]]`       | the task and its clips are unknown to every call                                       |
 *
 * For a verification session, the upstream searches `callback_url` (also percent-encoded) and `project_name`. The
 * triggers of the create request and of the first poll have the same effect as above, and:
 *
 * | in either           | effect                                                                                 |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[fail-late]]`     | the verification fails although the end user approves it                               |
 * | `[[expire]]`        | the session expires after a second                                                     |
 * | `[[unknown]]`       | the session is unknown to every read; its page works                                   |
 *
 * For an asset, `[[fail-late]]` reports a face that does not match, `[[sensitive]]` reports unsuitable media, and
 * `[[never]]` leaves the asset in processing. Triggers that concern results have no effect.
 *
 * # Embeddings and messages
 *
 * The upstream searches the texts of an embeddings request and the last user turn of a message. The triggers of speech
 * over HTTP that fail have the same effect, as do `[[slow]]`, `[[hang]]` and `[[malformed]]`.
 *
 * | in the text         | effect                                                                                 |
 * |---------------------|----------------------------------------------------------------------------------------|
 * | `[[drop]]`          | the connection breaks: before a message, or after the first vector or text chunk       |
 * | `[[fail-late]]`     | messages: a stream ends with an `error` event after the first chunk; otherwise 500     |
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

/** The triggers of a request, each with its optional number. */
export type Triggers = ReadonlyMap<TriggerName, number | undefined>;

const pattern = new RegExp(`\\[\\[(${names.join('|')})(?::(\\d{1,6}))?\\]\\]`, 'g');

/** Finds the triggers in all texts. Data URLs are not searched. */
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

/** Replaces triggers with spaces, so that all other characters keep their positions. */
export function blankTriggers(text: string): string {
  return text.replace(pattern, (trigger) => ' '.repeat(trigger.length));
}
