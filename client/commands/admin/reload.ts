import { command } from './command.ts';

/** `reload`: has a changed configuration file take effect. */
export const reloadCommand = command({
  does: 'have a changed configuration file take effect, on the gateway that is asked',
  options: { 'dry-run': { does: 'only tell what would change' } },
  examples: ['reload --dry-run', 'reload'],
  async run({ client, options, output, signal }) {
    const reload = await client.admin.reload({ dry_run: options['dry-run'] }, { signal });
    const { file, applied, revision, settings, needs_restart, warnings } = reload;
    const kinds = ['channels', 'groups', 'prices'] as const;
    const changes = kinds.flatMap((kind) =>
      (['added', 'removed', 'changed'] as const).map((how) => [
        `${kind} ${how}`,
        reload[kind][how].join(', '),
      ]),
    );
    const facts = {
      file: file ?? 'none',
      applied,
      revision,
      ...(Object.fromEntries(changes) as Record<string, string>),
    };
    const more = { settings: settings.join(', '), 'needs a restart': needs_restart.join(', ') };
    output.facts({ ...facts, ...more }, reload);
    for (const warning of warnings) output.tell(`warning: ${warning}`);
  },
});
