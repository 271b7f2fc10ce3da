import { admin } from './admin.ts';
import { assets } from './assets.ts';
import { callbackEndpoints } from './callback-endpoints.ts';
import { conformance } from './conformance.ts';
import { embeddings } from './embeddings.ts';
import { events } from './events.ts';
import { images } from './images.ts';
import { inference } from './inference.ts';
import { management } from './management.ts';
import { messages } from './messages.ts';
import { models3d } from './models3d.ts';
import { music } from './music.ts';
import { parameters } from './parameters.ts';
import { realtime } from './realtime.ts';
import { responses } from './responses.ts';
import { speech } from './speech.ts';
import { tasks } from './tasks.ts';
import { video } from './video.ts';
import { voices } from './voices.ts';

/** Limits of requests and constants of responses that the interface does not define. */
export const decisions = [
  admin,
  responses,
  assets,
  callbackEndpoints,
  conformance,
  embeddings,
  events,
  images,
  inference,
  management,
  messages,
  models3d,
  music,
  parameters,
  realtime,
  speech,
  tasks,
  video,
  voices,
];
