{{/* The name of all objects: the name of the release, if that says what it is. */}}
{{- define "simulator.name" -}}
{{- if contains "simulator" .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name "simulator" | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects the pod. It must never change. */}}
{{- define "simulator.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "simulator.labels" -}}
{{ include "simulator.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "simulator.secret" -}}
{{- default (printf "%s-token" (include "simulator.name" .)) .Values.token.existingSecret -}}
{{- end -}}

{{- define "simulator.claim" -}}
{{- default (printf "%s-data" (include "simulator.name" .)) .Values.persistence.existingClaim -}}
{{- end -}}
