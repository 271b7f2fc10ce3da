import { type Exchange, type Route, sendJson } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import type { NativeError } from '../http/native-error.ts';
import { applyPollTriggers, maxBodyBytes, sendCreated, withErrorFormat } from '../tasks/protocol.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import { failOrHang } from '../triggered-errors.ts';
import { findTriggers, type Triggers } from '../triggers.ts';
import { ImageJobs } from './image-jobs.ts';
import { readAction, readIds, readImagine, readModal } from './image-requests.ts';
import { codes, formatReply, SubmitError, type SubmitReply, withSubmitErrors } from './submit-reply.ts';
import { formatTask } from './task-view.ts';

/**
 * The protocol of image jobs: imagine, actions on finished jobs, modal requests for waiting jobs, and queries. `side`:
 * side of a square image in a grid, in pixels.
 */
export function imageRoutes(services: TaskServices, side: number): Route[] {
  const jobs = new ImageJobs({ ...services, side });

  async function imagine(exchange: Exchange): Promise<void> {
    const request = readImagine(await readJson(exchange.request, maxBodyBytes));
    const triggers = await applyTriggers(exchange, request.prompt, request.state);
    await sendAccepted(exchange, triggers, await jobs.imagine(request, triggers));
  }

  async function act(exchange: Exchange): Promise<void> {
    const request = readAction(await readJson(exchange.request));
    const triggers = await applyTriggers(exchange, undefined, request.state);
    const { id, isWaiting } = jobs.act(request, triggers);
    if (!isWaiting) return await sendAccepted(exchange, triggers, id);
    const found = jobs.find(id);
    const finalPrompt = found && 'job' in found ? found.job.prompt : '';
    await sendReply(exchange, triggers, {
      code: codes.modal,
      description: 'Waiting for a prompt',
      result: id,
      properties: { finalPrompt, remix: true },
    });
  }

  async function modal(exchange: Exchange): Promise<void> {
    const request = readModal(await readJson(exchange.request, maxBodyBytes));
    const triggers = await applyTriggers(exchange, request.prompt, request.state);
    await sendAccepted(exchange, triggers, await jobs.modal(request, triggers));
  }

  async function poll(exchange: Exchange): Promise<void> {
    const id = decodeURIComponent(exchange.url.pathname.split('/').at(-2) ?? '');
    const found = jobs.find(id);
    // The protocol has no other response for an unknown task.
    if (!found) return void exchange.response.writeHead(200, { 'content-length': 0 }).end();
    if (!('job' in found) && (await applyPollTriggers(exchange, found))) return;
    sendJson(exchange, 200, formatTask(id, found));
  }

  async function list(exchange: Exchange): Promise<void> {
    const ids = readIds(await readJson(exchange.request));
    const found = ids.flatMap((id) => {
      const task = jobs.find(id);
      return task ? [formatTask(id, task)] : [];
    });
    sendJson(exchange, 200, found);
  }

  const submit = (name: string, handler: (exchange: Exchange) => Promise<void>): Route => ({
    methods: ['POST'],
    path: new RegExp(`^/imgjob/submit/${name}$`),
    handler: withSubmitErrors(handler),
  });
  return [
    submit('imagine', imagine),
    submit('action', act),
    submit('modal', modal),
    {
      methods: ['GET'],
      path: /^\/imgjob\/task\/[^/]+\/fetch$/,
      handler: withErrorFormat(formatQueryError, poll),
    },
    {
      methods: ['POST'],
      path: /^\/imgjob\/task\/list-by-condition$/,
      handler: withErrorFormat(formatQueryError, list),
    },
  ];
}

/** Applies the triggers in prompt and state that reject or block the request, and returns all of them. */
async function applyTriggers(exchange: Exchange, prompt = '', state = ''): Promise<Triggers> {
  const triggers = findTriggers(prompt, state);
  if (triggers.has('reject'))
    throw new SubmitError(codes.banned, 'The prompt contains a banned word', {
      promptEn: prompt,
      bannedWord: '[[reject]]',
    });
  await failOrHang(exchange, triggers);
  if (triggers.has('queue-full')) throw new SubmitError(codes.full, 'The queue is full');
  return triggers;
}

async function sendAccepted(exchange: Exchange, triggers: Triggers, result: string): Promise<void> {
  const queued = triggers.has('queued');
  await sendReply(exchange, triggers, {
    code: queued ? codes.queued : codes.accepted,
    description: queued ? 'Queued behind another task' : 'Accepted',
    result,
    ...(queued && { properties: { numberOfQueues: 1, instanceId: 'sandbox' } }),
  });
}

function sendReply(exchange: Exchange, triggers: Triggers, reply: SubmitReply): Promise<void> {
  return sendCreated(exchange, triggers, formatReply(reply));
}

function formatQueryError({ status, message }: NativeError): object {
  return { code: status, description: message };
}
