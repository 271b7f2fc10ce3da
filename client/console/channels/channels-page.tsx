import { useSignal } from '@preact/signals';
import { Network } from 'lucide';
import { useEffect } from 'preact/hooks';
import type { Channel } from '../../index.ts';
import { useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { ChannelCard } from './channel-card.tsx';
import './channels.css';
import { PriceTable } from './price-table.tsx';
import { ReloadDialog } from './reload-dialog.tsx';

/** Time between two reads of the figures, while the page is visible. */
const refreshIntervalMs = 3_000;

/** The channels to providers with their health, and the actions of an operator. */
export default function ChannelsPage() {
  const client = useClient();
  const channels = useSignal<readonly Channel[] | undefined>(undefined);
  const isReloading = useSignal(false);
  /** Number of closed reload dialogs: a reload can change the prices. */
  const version = useSignal(0);
  const run = useRun<void>();
  const refresh = () =>
    run.start(async (signal) => {
      channels.value = await Array.fromAsync(client.admin.channels.list({ page_size: 100 }, { signal }));
    });
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refresh();
    }, refreshIntervalMs);
    return () => clearInterval(timer);
  }, []);
  const state = run.state.value;
  const replace = (changed: Channel) => {
    channels.value = channels.value?.map((channel) => (channel.name === changed.name ? changed : channel));
  };
  return (
    <>
      <PageHead title="Channels">
        Accounts at providers. The figures are those of the gateway that responded, since it loaded the
        channel.
      </PageHead>
      <div class="stack">
        <div class="row">
          <Button onClick={() => (isReloading.value = true)}>Reload the configuration</Button>
        </div>
        {state.status === 'failed' && <ErrorNotice error={state.error} />}
        {channels.value?.length === 0 && (
          <EmptyState icon={Network} title="The configuration has no channels.">
            <p>Add a channel to the configuration file, and reload it.</p>
          </EmptyState>
        )}
        <ul class="channels">
          {channels.value?.map((channel) => (
            <li key={channel.name}>
              <ChannelCard channel={channel} onChange={replace} />
            </li>
          ))}
        </ul>
        <PriceTable key={version.value} />
      </div>
      {isReloading.value && (
        <ReloadDialog
          onClose={() => {
            isReloading.value = false;
            version.value += 1;
            void refresh();
          }}
        />
      )}
    </>
  );
}
