import { Tabs } from '../parts/tabs.tsx';
import { isAdmin, rights } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { replaceQuery, route } from '../shell/router.ts';
import type { Scope } from './endpoint-calls.ts';
import { EndpointList } from './endpoint-list.tsx';
import { EndpointView } from './endpoint-view.tsx';
import './webhooks.css';

const scopes: Readonly<Record<Scope, string>> = { own: 'My endpoints', operator: 'Operator endpoints' };

/** The callback endpoints of the user, and of the operator for an admin key. The address selects one of them. */
export default function WebhooksPage() {
  const { query } = route.value;
  const seesOwn = rights.value.has('user');
  const scope = isAdmin.value && (query.get('scope') === 'operator' || !seesOwn) ? 'operator' : 'own';
  const id = Number(query.get('endpoint'));
  if (id > 0) return <EndpointView key={`${scope} ${id}`} scope={scope} id={id} />;
  const list = <EndpointList key={scope} scope={scope} />;
  return (
    <>
      <PageHead title="Webhooks">
        {scope === 'own'
          ? 'Signed events about your keys, budgets and tasks, sent to your server.'
          : 'Signed events about all users and channels, sent to the server of the operator.'}
      </PageHead>
      {isAdmin.value && seesOwn ? (
        <Tabs
          label="Owner of the endpoints"
          names={Object.values(scopes)}
          selected={scopes[scope]}
          onSelect={(name) => replaceQuery({ scope: name === scopes.operator ? 'operator' : undefined })}
        >
          <div class="webhooks-list">{list}</div>
        </Tabs>
      ) : (
        list
      )}
    </>
  );
}
