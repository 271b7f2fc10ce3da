import type { ServerResponse } from 'node:http';
import { documentedEvents } from '../mock/events.ts';
import { exampleOf } from '../mock/examples.ts';
import { type RecordingUpstream, startUpstream } from './upstream.ts';

/** A messages provider that answers calls at once, and pauses each stream after its first half. */
export interface PausedStreams {
  upstream: RecordingUpstream;
  /** Streams that are paused. */
  paused: ServerResponse[];
  /** Number of events of a complete stream. */
  events: number;
  /** Sends the second half of all paused streams. */
  resume(): void;
  /** Returns the configuration of a channel to it. */
  channel(priority: number): object;
}

export async function startPausedStreams(model: string): Promise<PausedStreams> {
  const paused: ServerResponse[] = [];
  const events = documentedEvents('createMessage', 'answer', model);
  const half = Math.floor(events.length / 2);
  const upstream = await startUpstream(({ body }, response) => {
    if (!(body as { stream?: boolean }).stream) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(exampleOf('createMessage', 'answer')));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.slice(0, half).join(''));
    paused.push(response);
  });
  return {
    upstream,
    paused,
    events: events.length,
    resume() {
      for (const response of paused.splice(0)) response.end(events.slice(half).join(''));
    },
    channel: (priority) => ({
      name: 'scripted',
      protocol: 'messages',
      base_url: upstream.url,
      key: 'k',
      models: ['iota-*'],
      // Takes precedence over the sandbox channel, which serves the same models.
      priority,
      private_files: true,
    }),
  };
}
