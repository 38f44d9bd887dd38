{{- define "sluice.name" -}}
{{- if eq .Release.Name .Chart.Name }}{{ .Chart.Name }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "sluice.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* The pod of the StatefulSet and of the Deployment. */}}
{{- define "sluice.pod" -}}
metadata:
  labels:
    {{- include "sluice.selector" . | nindent 4 }}
  annotations:
    # A changed configuration replaces the pods.
    checksum/config: {{ toYaml .Values.config | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  # More than the 30 s that a graceful stop may take.
  terminationGracePeriodSeconds: 60
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- if eq .Values.store.kind "postgresql" }}
  # The loss of a node leaves the others.
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "sluice.selector" . | nindent 10 }}
  initContainers:
    # Only its owner may read keys.json: a mounted Secret is readable by its group.
    - name: keys
      image: {{ include "sluice.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [install, -m, '0600', /keys/keys.json, /data/keys.json]
      securityContext:
        {{- include "sluice.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: keys, mountPath: /keys, readOnly: true }
        - { name: data, mountPath: /data }
  {{- end }}
  containers:
    - name: sluice
      image: {{ include "sluice.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve]
      env:
        - name: SLUICE_CONFIG
          value: /config/sluice.yaml
        {{- if eq .Values.store.kind "postgresql" }}
        - name: SLUICE_SPOOL_URL
          valueFrom:
            secretKeyRef:
              name: {{ .Values.store.postgresql.urlSecret.name }}
              key: {{ .Values.store.postgresql.urlSecret.key }}
        {{- end }}
      envFrom:
        - secretRef: { name: {{ .Values.secret }} }
      ports:
        - { name: smtp, containerPort: 2525 }
        - { name: http, containerPort: 8080 }
        - { name: admin, containerPort: 8081 }
      # A first start makes keys or tables; after a crash, the spool is looked through.
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 2
        failureThreshold: 150
      # Not ready: the store does not store, or the pod is stopping. Senders go elsewhere or wait.
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 5
        timeoutSeconds: 4
        failureThreshold: 2
      # The process answers. A platform that is down must not restart the gateway.
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        preStop:
          # Endpoints are withdrawn in this time, then SIGTERM closes the doors.
          exec: { command: [sleep, '5'] }
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- include "sluice.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: config, mountPath: /config, readOnly: true }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - name: config
      configMap: { name: {{ include "sluice.name" . }} }
    - name: tmp
      emptyDir: {}
    {{- if eq .Values.store.kind "postgresql" }}
    - name: keys
      secret: { secretName: {{ .Values.store.postgresql.keysSecret }} }
    # The pod's name and temporary files: they go with it.
    - name: data
      emptyDir: {}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
