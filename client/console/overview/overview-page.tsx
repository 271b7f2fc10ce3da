import { CallPanel } from '../calls/call-panel.tsx';
import { samplesOf } from '../calls/samples.ts';
import { pagesFor } from '../pages.ts';
import { Icon } from '../parts/icon.tsx';
import { session, useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { addressOf } from '../shell/router.ts';
import './overview.css';

const firstCall = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning from one key.' };

/** The first page after sign-in: where to go, and the first call. */
export default function OverviewPage() {
  const { baseUrl } = useClient();
  const pages = pagesFor(session.value?.isAdmin ?? false).filter(({ path }) => path !== '');
  return (
    <>
      <PageHead title="Overview">
        Create media with one key at <code>{baseUrl}</code>.
      </PageHead>
      <div class="stack">
        <ul class="grid overview-pages">
          {pages.map(({ path, title, icon, group }) => (
            <li key={path}>
              <a class="card" href={addressOf(path)}>
                <Icon node={icon} size={20} />
                <strong>{title}</strong>
                <span class="muted">{group}</span>
              </a>
            </li>
          ))}
        </ul>
        <h2>Your first call</h2>
        <CallPanel samples={samplesOf('createSpeech', firstCall)} />
      </div>
    </>
  );
}
