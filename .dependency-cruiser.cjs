/** The layers of docs/architecture.md: who may import whom. */
const layer = (name, from, allowed, except = []) => ({
  name,
  severity: 'error',
  from: { path: from, ...(except.length > 0 && { pathNot: except }) },
  to: { path: '^src/', pathNot: [from, ...allowed] },
});
const LEAVES = ['^src/domain/', '^src/observability/', '^src/runtime/'];
const CONTRACT = ['^src/platform-api/(schemas|resources|date-time)[.]ts$'];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      // The bundles contain the packages of devDependencies; test/package/bundles.test.ts looks at what they import.
      name: 'not-to-a-package-of-the-tests',
      severity: 'error',
      // The page that uses the component has React.
      from: { path: '^src/', pathNot: '^src/widget/package/react[.]ts$' },
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: ['@types/'],
      },
    },
    // The package exports the client without the store.
    layer('the-package-is-the-client', '^src/index[.]ts$', ['^src/platform-api/']),
    layer('domain-is-a-leaf', '^src/domain/', []),
    layer('observability-is-a-leaf', '^src/observability/', ['^src/domain/']),
    layer('runtime-is-a-leaf', '^src/runtime/', ['^src/domain/']),
    layer('config', '^src/config/', ['^src/domain/', '^src/runtime/']),
    layer('gateway-never-cli', '^src/gateway/', ['^src/(?!cli/|main[.]ts$)']),
    layer('platform-api', '^src/platform-api/', LEAVES),
    layer('spool', '^src/spool/', LEAVES),
    {
      name: 'the-index-follows-the-store',
      severity: 'error',
      from: { path: '^src/spool/(?!search/|open-store)' },
      to: { path: '^src/spool/search/' },
    },
    layer('backup', '^src/operations/backup/', [...LEAVES, '^src/spool/']),
    layer('intake-to-spool', '^src/intake/', [...LEAVES, ...CONTRACT, '^src/spool/']),
    ...['email', 'sms', 'chat'].map((channel) =>
      layer(`channel-${channel}`, `^src/channels/${channel}/`, [
        ...LEAVES,
        ...CONTRACT,
        '^src/spool/',
        '^src/intake/',
      ]),
    ),
    {
      name: 'sms-providers-only-through-their-registry',
      severity: 'error',
      // The gateway makes a shop's account from the configuration; doctor checks what is set at a
      // provider.
      from: {
        path: '^src/',
        pathNot: [
          '^src/channels/sms/providers/',
          '^src/gateway/shops[.]ts$',
          '^src/operations/doctor/',
        ],
      },
      to: { path: '^src/channels/sms/providers/[^/]+/' },
    },
    {
      name: 'sms-providers-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/channels/sms/providers/([^/]+)/' },
      to: {
        path: '^src/channels/sms/providers/[^/]+/',
        pathNot: '^src/channels/sms/providers/$1/',
      },
    },
    layer('delivery', '^src/delivery/', [
      ...LEAVES,
      '^src/platform-api/',
      '^src/spool/',
      '^src/intake/',
    ]),
    layer('local-platform-never-the-client', '^src/local-platform/', [...LEAVES, ...CONTRACT]),
    layer('doctor', '^src/operations/doctor/', [
      ...LEAVES,
      '^src/platform-api/',
      '^src/channels/sms/',
      '^src/operations/(conditions|running-gateway)[.]ts$',
    ]),
    layer('console', '^src/console/(?!page/)', [
      ...LEAVES,
      '^src/spool/',
      '^src/intake/',
      '^src/platform-api/',
      '^src/operations/(conditions|doctor/check|alerts/(alert|incident))[.]ts$',
    ]),
    layer('console-page', '^src/console/page/', [
      '^src/console/(contract|trial-words)[.]ts$',
      '^src/runtime/retry-after[.]ts$',
      '^src/domain/(api-token|channel|reasons|reason-explanations|entry-state)[.]ts$',
      '^src/widget/look/',
    ]),
    layer('alerts', '^src/operations/alerts/', [
      ...LEAVES,
      '^src/operations/(conditions|doctor/database)[.]ts$',
    ]),
    layer('conditions', '^src/operations/conditions[.]ts$', [
      ...LEAVES,
      '^src/operations/(alerts/alert|doctor/(check|database))[.]ts$',
    ]),
    layer('demo', '^src/demo/', LEAVES),
    layer('widget', '^src/widget/', ['^src/channels/chat/events[.]ts$']),
    {
      name: 'only-the-root-and-cli-read-the-configuration',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/main[.]ts$', '^src/(cli|config|gateway)/'] },
      to: { path: '^src/config/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
