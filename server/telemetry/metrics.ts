import { Gauge, Histogram, type Instrument } from './instruments.ts';

/**
 * All that the gateway measures, as one process. README.md has the same list, from `metricTable`. Attributes take their
 * values from the contract, the catalogue, the configuration and fixed lists: never from what a client wrote.
 */

export const serverRequestDuration = new Histogram({
  name: 'http.server.request.duration',
  unit: 's',
  text: 'Time from the head of a request to the end of its answer; of a socket, until it is open.',
  attributes: [
    'http.request.method',
    'http.route',
    'http.response.status_code',
    'error.type',
    'unigate.operation',
  ],
});

export const serverActiveRequests = new Gauge({
  name: 'http.server.active_requests',
  unit: '{request}',
  text: 'Requests that are being answered.',
});

export const eventLoopDelay = {
  p50: delay('p50', 'Half of the turns of the event loop are no later than this, since the last scrape.'),
  p99: delay('p99', '99 of 100 turns of the event loop are no later than this, since the last scrape.'),
  max: delay('max', 'The latest turn of the event loop since the last scrape.'),
};

export const eventLoopUtilization = new Gauge({
  name: 'nodejs.eventloop.utilization',
  unit: '1',
  text: 'Share of the time since the last scrape that the event loop was busy.',
});

export const memoryUsage = new Gauge({
  name: 'process.memory.usage',
  unit: 'By',
  text: 'Resident memory of the process, all threads.',
});

export const heapUsed = new Gauge({
  name: 'v8js.memory.heap.used',
  unit: 'By',
  text: "The main thread's heap in use.",
});

export const cpuTime = new Gauge(
  {
    name: 'process.cpu.time',
    unit: 's',
    text: 'CPU time of the process, all threads.',
    attributes: ['cpu.mode'],
  },
  'counter',
);

export const uptime = new Gauge({
  name: 'process.uptime',
  unit: 's',
  text: 'Time since the process began.',
});

function delay(figure: string, text: string): Gauge {
  return new Gauge({ name: `nodejs.eventloop.delay.${figure}`, unit: 's', text });
}

/** In the order of the list. */
export const allMetrics: readonly Instrument[] = [
  serverRequestDuration,
  serverActiveRequests,
  ...Object.values(eventLoopDelay),
  eventLoopUtilization,
  memoryUsage,
  heapUsed,
  cpuTime,
  uptime,
];
