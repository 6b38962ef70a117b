package server

import (
	_ "embed"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// openAPI describes every route. A test fails when the two differ.
//
//go:embed openapi.json
var openAPI []byte

const (
	apiPrefix   = "/api"
	proxyPrefix = "/kubernetes"
	watchPath   = apiPrefix + "/v1/watch"
	// anyPath matches the requests that no other route matches.
	anyPath = "/*"
)

func (s *Server) route(e *echo.Echo) {
	e.GET("/healthz", s.getHealthz)
	e.GET("/readyz", s.getReadyz)
	e.GET("/metrics", echo.WrapHandler(promhttp.HandlerFor(s.opts.Gatherer, promhttp.HandlerOpts{})))

	v1 := e.Group(apiPrefix + "/v1")
	v1.GET("/openapi.json", func(c echo.Context) error {
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, openAPI)
	})
	v1.GET("/status", s.getStatus)
	v1.GET("/schedulerconfiguration", s.getConfiguration(Configuration.Current))
	v1.PUT("/schedulerconfiguration", s.configuration(s.putConfiguration))
	v1.POST("/schedulerconfiguration", s.configuration(s.putConfiguration))
	v1.DELETE("/schedulerconfiguration", whole(s.configuration(s.deleteConfiguration)))
	v1.GET("/schedulerconfiguration/default", s.getConfiguration(Configuration.Default))
	v1.GET("/schedulerconfiguration/effective", s.configuration(s.getEffective))
	v1.GET("/schedulerconfiguration/revisions", s.configuration(s.listRevisions))
	v1.GET("/schedulerconfiguration/revisions/:number", s.configuration(s.getRevision))
	v1.POST("/schedulerconfiguration/revisions/:number", whole(s.configuration(s.applyRevision)))
	v1.GET("/featuregates", s.listFeatureGates)
	v1.GET("/results", s.listResults)
	v1.GET("/results/:uid", s.listAttempts)
	v1.POST("/results/:uid/try", whole(s.tryNow))
	v1.GET("/results/:uid/:attempt", s.getCycle)
	v1.PUT("/reset", whole(s.reset))
	v1.GET("/export", s.transfer(s.getExport))
	v1.GET("/export/scenario", s.transfer(s.getClusterScenario))
	v1.GET("/import", s.transfer(s.getImport))
	v1.POST("/import", s.transfer(s.postImport))
	v1.GET("/import/placements", s.placements(s.getImportPlacements))
	v1.GET("/import/sides", s.placements(s.getImportSides))
	v1.DELETE("/import", whole(s.transfer(s.deleteImport)))
	v1.GET("/inactive", s.inactive(s.getInactive))
	v1.POST("/inactive/activate", s.inactive(s.activate))
	v1.GET("/definitions", s.definitions(s.listDefinitions))
	v1.PUT("/definitions/:name", whole(s.definitions(s.putDefinition)))
	v1.GET("/replay", s.replay(s.getReplay))
	v1.POST("/replay", s.replay(s.postReplay))
	v1.PATCH("/replay", s.replay(s.patchReplay))
	v1.DELETE("/replay", whole(s.replay(s.deleteReplay)))
	v1.POST("/replay/step", whole(s.replay(s.stepReplay)))
	v1.GET("/replay/comparison", s.replay(s.getReplayComparison))
	v1.POST("/whatif", question(s, Hypotheses.WhatIf))
	v1.POST("/whatif/fit", question(s, Hypotheses.Fit))
	v1.POST("/whatif/capacity", question(s, Hypotheses.Capacity))
	v1.POST("/whatif/copies", question(s, Hypotheses.Copies))
	v1.POST("/why", question(s, Hypotheses.Why))
	v1.POST("/submit", question(s, Hypotheses.Submit))
	v1.POST("/autoscale", question(s, Hypotheses.Autoscale))
	v1.POST("/drain", question(s, Hypotheses.Drain))
	v1.GET("/upgrade", s.upgrade(s.getUpgrade))
	v1.POST("/upgrade", s.upgrade(s.postUpgrade))
	v1.POST("/upgrade/file", s.upgrade(s.postUpgradeFile))
	v1.DELETE("/upgrade", whole(s.upgrade(s.deleteUpgrade)))
	v1.POST("/deschedule", question(s, Hypotheses.Deschedule))
	v1.GET("/runs", s.runs(s.listRuns))
	v1.POST("/runs", s.runs(s.postRun))
	v1.GET("/runs/schema", s.getRunSchema)
	v1.GET("/runs/:id", s.runs(s.getRun))
	v1.GET("/runs/:id/results/:index", s.runs(s.getRunResult))
	v1.GET("/runs/:id/results/:index/decisions/:uid/:attempt", s.runs(s.getRunDecision))
	v1.DELETE("/runs/:id", whole(s.runs(s.deleteRun)))
	v1.POST("/play", s.runs(s.postPlay))
	v1.GET("/lessons", s.lessons(s.listLessons))
	v1.GET("/lessons/:id", s.lessons(s.getLesson))
	v1.GET("/lessons/:id/result", s.lessons(s.getLessonResult))
	v1.POST("/lessons/:id/steps/:step", whole(s.lessons(s.doStep)))
	v1.POST("/lessons/:id/checks/:check", s.lessons(s.gradeCheck))
	v1.GET("/exercises", s.lessons(s.listExercises))
	v1.POST("/exercises", s.lessons(s.postExercise))
	v1.POST("/exercises/grade", s.lessons(s.gradeExercise))
	v1.GET("/exercises/result", s.lessons(s.getExerciseResult))
	v1.GET("/shadow", s.shadow(s.getShadow))
	v1.PUT("/shadow", s.shadow(s.putShadow))
	v1.POST("/shadow", s.shadow(s.postShadow))
	v1.DELETE("/shadow", whole(s.shadow(s.deleteShadow)))
	v1.GET("/sessions", s.sessions(s.listSessions))
	v1.PATCH("/sessions", s.sessions(s.patchSessions))
	v1.GET("/sessions/:number", s.sessions(s.getSession))
	v1.PUT("/sessions/configuration/:rules", s.sessions(s.putSessionConfiguration))
	v1.GET("/flow/comparison", s.sessions(s.getFlowComparison))
	v1.GET("/timeline", s.timeline(s.getTimeline))
	v1.GET("/timeline/usage", s.timeline(s.getUsage))
	v1.GET("/timeline/moments/:moment", s.timeline(s.getMoment))
	v1.GET("/timeline/moments/:moment/objects", s.timeline(s.getMomentObjects))
	v1.GET("/timeline/scenario", s.timeline(s.getSteps))
	v1.GET("/timeline/difference", s.timeline(s.getDifference))
	v1.GET("/timeline/at/:uid/:attempt", s.timeline(s.getDecisionMoment))
	v1.GET("/undo", s.timeline(s.getUndo))
	v1.POST("/undo", s.timeline(s.postUndo))
	v1.GET("/admissions", s.kueue(s.listAdmissions))
	v1.GET("/kueue", s.kueue(s.getKueue))
	v1.PUT("/kueue", whole(s.kueue(s.putKueue)))
	v1.PUT("/kueue/configuration", s.kueue(s.putKueueConfiguration))
	v1.PUT("/kueue/checks", s.kueue(s.putCheck))
	v1.POST("/kueue/whatif", s.kueue(s.postKueueWhatIf))
	v1.GET("/karpenter", s.karpenter(s.getKarpenter))
	v1.PUT("/karpenter", s.karpenter(s.putKarpenter))
	v1.POST("/karpenter/interruptions", s.karpenter(s.postInterruption))
	v1.GET("/branch", s.getOwnBranch)
	v1.GET("/branches", s.branches(s.listBranches))
	v1.POST("/branches", s.branches(s.postBranch))
	v1.GET("/branches/compare", s.branches(s.compareBranches))
	v1.POST("/branches/:name/start", whole(s.branches(s.startBranch)))
	v1.POST("/branches/:name/stop", whole(s.branches(s.stopBranch)))
	v1.POST("/branches/:name/promote", s.branches(s.promoteBranch))
	v1.PATCH("/branches/:name", s.branches(s.patchBranch))
	v1.DELETE("/branches/:name", whole(s.branches(s.deleteBranch)))
	e.GET(watchPath, echo.WrapHandler(s.hub))

	e.Match([]string{http.MethodPost, http.MethodGet, http.MethodDelete}, agentsPath, s.agents)
	e.Match(proxiedMethods, proxyPrefix+"/*", s.proxy)
	e.Match(proxiedMethods, branchesPrefix+"/:name/*", s.toBranch)

	e.GET("/", s.getPage)
	e.GET(anyPath, s.getPage)
}

// isPage reports whether path belongs to the web application rather than to an API.
func isPage(path string) bool {
	_, path = splitBranch(path)
	switch path {
	case "/healthz", "/readyz", "/metrics", agentsPath:
		return false
	}
	return !below(path, apiPrefix) && !below(path, proxyPrefix)
}

func below(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
