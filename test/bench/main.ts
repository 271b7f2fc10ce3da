import { parseArgs } from 'node:util';
import { cases, characters } from './cases.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import { here, killAll, LoadProcess, ServerProcess } from './processes.ts';
import { machine, markdown, summarize } from './report.ts';
import { type CaseResult, Rounds } from './rounds.ts';

const usage = `npm run bench -- [options]
Measures the gateway against a proxy that checks nothing, and both against the upstream itself.

  --case NAME          only this case (repeatable): ${cases.map(({ name }) => name).join(', ')}
  --rounds N           interleaved rounds, default 5
  --seconds S          length of a round, default 1.5
  --connections N      keep-alive connections, default 32
  --json               print JSON instead of Markdown
  --profile FOLDER     write CPU profiles of the gateway's threads there (slows it down)
  --server FILE        another gateway to measure, default server/main.ts`;

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.5' },
    connections: { type: 'string', default: '32' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
    server: { type: 'string', default: here('../../server/main.ts') },
    help: { type: 'boolean', default: false },
  },
});

function positive(name: 'rounds' | 'seconds' | 'connections'): number {
  const value = Number(values[name]);
  if (value > 0 && (name === 'seconds' || Number.isInteger(value))) return value;
  throw new Error(`--${name} must be a positive number, not ${values[name]}`);
}

async function run(): Promise<string> {
  const options = {
    rounds: positive('rounds'),
    seconds: positive('seconds'),
    connections: positive('connections'),
  };
  const chosen = cases.filter(({ name }) => values.case?.includes(name) ?? true);
  if (chosen.length === 0)
    throw new Error(`--case must be one of ${cases.map(({ name }) => name).join(', ')}`);

  const stub = await ServerProcess.start({ module: here('upstream.ts'), core: 'others' });
  const raw = await ServerProcess.start({
    module: here('raw-proxy.ts'),
    core: 'measured',
    arguments: [stub.origin],
  });
  const gateway: RunningGateway = await startGateway(values.server, stub.origin, values.profile);
  try {
    const load = new LoadProcess();
    const rounds = new Rounds({ direct: stub, raw, gateway: gateway.server }, load);
    const results: CaseResult[] = [];
    for (const bench of chosen) {
      console.error(`measuring ${bench.title}`);
      results.push(await rounds.measure(bench, options));
    }
    const answers = rounds.answers.gateway;
    await gateway.stop({ answers, charged: answers * characters });
    console.error(`the books are right: ${answers} answers, each settled once`);
    await Promise.all([load.stop(), raw.stop(), stub.stop()]);
    const summaries = results.map(summarize);
    return values.json
      ? JSON.stringify({ machine: machine(), ...options, cases: summaries }, null, 2)
      : markdown(summaries, options);
  } finally {
    await gateway.remove();
  }
}

if (values.help) {
  console.log(usage);
} else {
  try {
    console.log(await run());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    killAll();
  }
}
