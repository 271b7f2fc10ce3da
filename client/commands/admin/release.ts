import { command } from './command.ts';

/** `release`: ends maintenance mode. */
export const releaseCommand = command({
  description: 'end maintenance mode on this gateway: poll tasks, send callbacks and accept all requests',
  options: {},
  examples: ['release'],
  async run({ client, output, signal }) {
    output.fields(await client.admin.release({ signal }));
  },
});
