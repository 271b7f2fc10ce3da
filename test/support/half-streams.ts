import type { ServerResponse } from 'node:http';
import { documentedEvents } from '../mock/events.ts';
import { exampleOf } from '../mock/examples.ts';
import { type RecordingUpstream, startUpstream } from './upstream.ts';

/** A provider of messages that answers calls at once, and sends the first half of each stream until it is told to go on. */
export interface HalfStreams {
  upstream: RecordingUpstream;
  /** Streams of which the first half was sent. */
  held: ServerResponse[];
  /** Events of a whole stream. */
  events: number;
  /** Sends the other half of all of them. */
  finish(): void;
  /** Its channel in a configuration. */
  channel(priority: number): object;
}

export async function startHalfStreams(model: string): Promise<HalfStreams> {
  const held: ServerResponse[] = [];
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
    held.push(response);
  });
  return {
    upstream,
    held,
    events: events.length,
    finish() {
      for (const response of held.splice(0)) response.end(events.slice(half).join(''));
    },
    channel: (priority) => ({
      name: 'scripted',
      protocol: 'messages',
      base_url: upstream.url,
      key: 'k',
      models: ['iota-*'],
      // Before the sandbox's channel, which has them too.
      priority,
      private_files: true,
    }),
  };
}
